// A file that lives in memory and has no name in any folder.
#pragma once

#include <string>
#include <string_view>

namespace draftlab {

// Holds `bytes` in memory, to be read from the beginning: by this process through path(), and by a
// child process through fd(), which it inherits. Throws OutputError when there is not enough
// memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace draftlab
