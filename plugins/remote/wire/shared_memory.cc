#include "plugins/remote/wire/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace draftlab::remote {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

SharedMemory::SharedMemory(int slot, std::size_t bytes)
    : slot_(slot),
      descriptor_(::memfd_create("draftlab", MFD_CLOEXEC | MFD_ALLOW_SEALING)),
      bytes_(bytes) {
  void* const mapped =
      descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0 &&
              ::fcntl(descriptor_, F_ADD_SEALS, kSeals) == 0
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

SharedPool::Taken SharedPool::take(std::size_t bytes) {
  constexpr std::size_t kSmallest = 64 << 10;
  const auto is_free = [](const auto& piece) { return piece.use_count() == 1; };
  for (const std::shared_ptr<SharedMemory>& piece : pieces_)
    if (is_free(piece) && piece->bytes() >= bytes) return {piece, false};
  auto place = std::find_if(pieces_.begin(), pieces_.end(), is_free);
  if (place == pieces_.end()) {
    if (pieces_.size() >= kMostShared) return {};
    place = pieces_.insert(place, nullptr);
  }
  place->reset();  // A piece that is too small is freed before its successor takes memory.
  const auto slot = static_cast<int>(place - pieces_.begin());
  *place = std::make_shared<SharedMemory>(slot, std::bit_ceil(std::max(bytes, kSmallest)));
  return {*place, true};
}

}  // namespace draftlab::remote
