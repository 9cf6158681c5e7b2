// Memory that another process on this machine may write to. It is a file without a name, whose
// descriptor is passed over a Unix socket, and whose size is sealed: nobody can cut it off under
// those who read it. The system frees it with its last user.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace draftlab::remote {

// A process takes the memory of so many slots from each connection.
inline constexpr int kMostShared = 64;

class SharedMemory {
 public:
  // Throws OutputError when there is not so much memory.
  SharedMemory(int slot, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;

  // The number by which the other process knows it.
  int slot() const { return slot_; }
  std::byte* at() const { return at_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }

 private:
  int slot_, descriptor_;
  std::byte* at_;
  std::size_t bytes_;
};

// A pool of such memory, whose pieces are used again once nobody reads them any more.
class SharedPool {
 public:
  struct Taken {
    std::shared_ptr<SharedMemory> memory;
    // Whether it is new, and takes the place of what was in its slot before.
    bool fresh = false;
  };
  // Returns a piece of at least so many bytes; none while every slot is in use.
  Taken take(std::size_t bytes);

 private:
  std::vector<std::shared_ptr<SharedMemory>> pieces_;
};

}  // namespace draftlab::remote
