#include "plugins/remote/wire/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace draftlab::remote {

SharedMemory::SharedMemory(std::size_t bytes)
    : descriptor_(::memfd_create("draftlab", MFD_CLOEXEC)), bytes_(bytes) {
  void* const mapped =
      descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0
          ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0)
          : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    const std::string why = std::strerror(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw OutputError("{} bytes of shared memory cannot be had: {}", bytes, why);
  }
  at_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  ::munmap(at_, bytes_);
  ::close(descriptor_);
}

std::string SharedMemory::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_);
}

std::shared_ptr<SharedMemory> SharedPool::take(std::size_t bytes) {
  constexpr std::size_t kSmallest = 64 << 10;
  for (const std::shared_ptr<SharedMemory>& piece : pieces_)
    if (piece.use_count() == 1 && piece->bytes() >= bytes) return piece;
  std::erase_if(pieces_, [](const auto& piece) { return piece.use_count() == 1; });
  pieces_.push_back(std::make_shared<SharedMemory>(std::bit_ceil(std::max(bytes, kSmallest))));
  return pieces_.back();
}

}  // namespace draftlab::remote
