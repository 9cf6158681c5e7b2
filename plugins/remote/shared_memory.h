// Memory that another process on this machine may write to: a file without a name, which the system
// frees with its last user.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace draftlab::remote {

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);  // OutputError when there is none
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;

  std::byte* at() const { return at_; }
  std::size_t bytes() const { return bytes_; }
  // Where another process of this user opens it.
  std::string path() const;

 private:
  int descriptor_;
  std::byte* at_;
  std::size_t bytes_;
};

// Pieces that are used again once nobody reads them any more.
class SharedPool {
 public:
  std::shared_ptr<SharedMemory> take(std::size_t bytes);

 private:
  std::vector<std::shared_ptr<SharedMemory>> pieces_;
};

}  // namespace draftlab::remote
