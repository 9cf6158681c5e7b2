// A file without a name.
#pragma once

#include <string>
#include <string_view>

namespace draftlab {

// Holds `bytes` in memory, to be read from its beginning: by this process through path(), by a
// child through fd(), which it inherits. OutputError when there is no memory for it.
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
