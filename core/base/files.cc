#include "core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/base/error.h"

namespace draftlab {
namespace {

[[noreturn]] void fail(const std::string& path, int cause) {
  throw OutputError("cannot write '" + path + "': " + std::strerror(cause));
}

// A file descriptor that is closed on every way out.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

using Pieces = std::function<std::span<const std::byte>()>;

// Writes, and syncs where asked; errno of what failed, or 0.
int write_all(const std::string& path, const Pieces& next, bool sync) {
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.fd < 0) return errno;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  for (std::span<const std::byte> bytes = next(); !bytes.empty(); bytes = next()) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file.fd, bytes.data(), std::min(bytes.size(), kMost));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  if (sync && ::fsync(file.fd) != 0) return errno;
  const int closed = ::close(std::exchange(file.fd, -1));
  return closed == 0 ? 0 : errno;
}

// Makes a rename in the folder durable. Some file systems cannot sync a folder; that is no failure
// of ours.
void sync_folder(const std::string& path) {
  Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.fd >= 0) ::fsync(folder.fd);
}

}  // namespace

namespace {

void write_and_rename(const std::string& path, const Pieces& next, bool sync) {
  const std::string partial = path + std::string(kPartial);
  int cause = write_all(partial, next, sync);
  if (cause == 0 && std::rename(partial.c_str(), path.c_str()) != 0) cause = errno;
  if (cause != 0) {
    ::unlink(partial.c_str());
    fail(path, cause);
  }
  if (sync) sync_folder(folder_of(path));
}

Pieces once(std::span<const std::byte> bytes) {
  return [bytes]() mutable { return std::exchange(bytes, {}); };
}

}  // namespace

void write_whole(const std::string& path, const Pieces& next) {
  write_and_rename(path, next, true);
}

void write_whole(const std::string& path, std::span<const std::byte> bytes) {
  write_and_rename(path, once(bytes), true);
}

void write_whole(const std::string& path, std::string_view text) {
  write_whole(path, std::as_bytes(std::span(text.data(), text.size())));
}

void replace_whole(const std::string& path, std::string_view text) {
  write_and_rename(path, once(std::as_bytes(std::span(text.data(), text.size()))), false);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw OutputError("cannot create the folder '" + path + "': " + error.message());
  if (!std::filesystem::is_directory(path, error))
    throw OutputError("'" + path + "' is not a folder");
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

namespace {

std::mutex digests_mutex;
std::map<FileStamp, std::string>& digests() {
  static std::map<FileStamp, std::string> all;
  return all;
}

}  // namespace

std::string digest_once(const std::string& path, const std::function<std::string()>& compute) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return compute();
  std::error_code error;
  const FileStamp file{
      std::filesystem::weakly_canonical(path, error).string(), found.st_size,
      static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1000000000 + found.st_mtim.tv_nsec};
  const std::lock_guard lock(digests_mutex);
  const auto known = digests().find(file);
  if (known != digests().end()) return known->second;
  return digests()[file] = compute();
}

void remember_digest(const FileStamp& file, const std::string& digest) {
  const std::lock_guard lock(digests_mutex);
  digests()[file] = digest;
}

std::map<FileStamp, std::string> remembered_digests() {
  const std::lock_guard lock(digests_mutex);
  return digests();
}

}  // namespace draftlab
