#include "core/trace/checksum.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

namespace draftlab {
namespace {

constexpr std::size_t kDigits = 8;
constexpr std::string_view kWord = kUnsealed.substr(0, kUnsealed.size() - kDigits);

// Finds where the digits begin, and returns nothing where the file has none.
std::optional<std::size_t> digits_of(std::span<const std::byte> file) {
  const void* const found = ::memmem(file.data(), file.size(), kWord.data(), kWord.size());
  if (found == nullptr) return {};
  const std::size_t at = static_cast<const std::byte*>(found) - file.data() + kWord.size();
  if (at + kDigits > file.size()) return {};
  return at;
}

uLong crc32(uLong crc, std::span<const std::byte> bytes) {
  return ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

// Returns eight digits: the checksum of the file with zeros in the place of its digits.
std::string checksum(std::span<const std::byte> file, std::size_t digits) {
  constexpr std::string_view zeros = kUnsealed.substr(kUnsealed.size() - kDigits);
  uLong crc = crc32(0, file.first(digits));
  crc = crc32(crc, std::as_bytes(std::span(zeros)));
  crc = crc32(crc, file.subspan(digits + kDigits));
  char text[kDigits + 1];
  std::snprintf(text, sizeof text, "%08lx", crc & 0xFFFFFFFFul);
  return text;
}

}  // namespace

void seal(std::span<std::byte> file) {
  const auto digits = digits_of(file);
  if (digits) std::memcpy(file.data() + *digits, checksum(file, *digits).data(), kDigits);
}

bool is_intact(std::span<const std::byte> file) {
  const auto digits = digits_of(file);
  return !digits ||
         std::memcmp(file.data() + *digits, checksum(file, *digits).data(), kDigits) == 0;
}

bool is_intact(const std::string& path) {
  const int fd =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // A pipe is not waited for.
  if (fd < 0) return true;
  struct stat found {};
  const bool sized = ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
  const auto size = sized ? static_cast<std::size_t>(found.st_size) : 0;
  void* const mapped = sized ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (mapped == MAP_FAILED) return true;
  const bool intact = is_intact({static_cast<const std::byte*>(mapped), size});
  ::munmap(mapped, size);
  return intact;
}

}  // namespace draftlab
