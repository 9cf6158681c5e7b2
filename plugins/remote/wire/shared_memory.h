// Memory that another process on this machine may write to. It is a file without a name, which the
// system frees with its last user.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace draftlab::remote {

class SharedMemory {
 public:
  // Throws OutputError when there is not so much memory.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;

  std::byte* at() const { return at_; }
  std::size_t bytes() const { return bytes_; }
  // Returns the path at which another process of this user opens it.
  std::string path() const;

 private:
  int descriptor_;
  std::byte* at_;
  std::size_t bytes_;
};

// A pool of such memory, whose pieces are used again once nobody reads them any more.
class SharedPool {
 public:
  std::shared_ptr<SharedMemory> take(std::size_t bytes);

 private:
  std::vector<std::shared_ptr<SharedMemory>> pieces_;
};

}  // namespace draftlab::remote
