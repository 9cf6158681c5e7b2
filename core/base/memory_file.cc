#include "core/base/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace draftlab {

MemoryFile::MemoryFile(std::string_view bytes) : fd_(::memfd_create("draftlab", 0)) {
  std::size_t done = 0;
  while (fd_ >= 0 && done < bytes.size()) {
    const ssize_t wrote = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  if (fd_ >= 0 && done == bytes.size() && ::lseek(fd_, 0, SEEK_SET) == 0) return;
  const std::string cause = std::strerror(errno);
  if (fd_ >= 0) ::close(fd_);
  throw OutputError("cannot make a file in memory: {}", cause);
}

MemoryFile::~MemoryFile() { ::close(fd_); }

}  // namespace draftlab
