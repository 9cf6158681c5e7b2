#include "plugins/models/nn/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "core/base/error.h"

namespace draftlab {

std::span<const std::byte> map_file(const std::string& path, std::size_t least,
                                    const std::string& shorter) {
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // A pipe is not waited for.
  if (descriptor < 0) throw DataError("{}: cannot be read ({})", path, std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::size_t>(status.st_size) < least) {
    ::close(descriptor);
    throw DataError("{}: {}", path, shorter);
  }
  void* mapped = ::mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  ::close(descriptor);
  if (mapped == MAP_FAILED)
    throw DataError("{}: cannot be mapped ({})", path, std::strerror(errno));
  return {static_cast<const std::byte*>(mapped), static_cast<std::size_t>(status.st_size)};
}

void unmap(std::span<const std::byte> bytes) {
  ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

void release_pages(std::span<const std::byte> bytes) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()), end = begin + bytes.size();
  const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  // This is a hint, which may fail.
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::string digest_of(std::span<const std::byte> file) {
  // The hash has four independent multiply-and-rotate lanes over 8-byte words: it is as fast as the
  // disk, and enough to distinguish checkpoints.
  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ull;
  const auto mix = [](std::uint64_t lane, std::uint64_t word) {
    lane = (lane ^ word) * kOdd;
    return (lane << 31) | (lane >> 33);
  };
  constexpr std::size_t kRead = std::size_t{64}  // The file is read in pieces, because it may be
                                                 // larger than memory.
                                << 20;
  for (std::size_t at = 0; at < file.size(); at += 32) {
    if (at > 0 && at % kRead == 0) release_pages(file.subspan(at - kRead, kRead));
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), file.data() + at, std::min<std::size_t>(32, file.size() - at));
    for (int lane = 0; lane < 4; ++lane) lanes[lane] = mix(lanes[lane], words[lane]);
  }
  std::uint64_t hash = file.size();
  for (const std::uint64_t lane : lanes) hash = mix(hash, lane);
  hash = mix(hash ^ (hash >> 29), kOdd);
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash ^ (hash >> 32)));
  return text;
}

}  // namespace draftlab
