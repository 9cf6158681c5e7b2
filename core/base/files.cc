#include "core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/process.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int cause) {
  throw OutputError("cannot write '{}': {}", path, std::strerror(cause));
}

// A file descriptor that is closed on every way out.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

using Pieces = std::function<std::span<const std::byte>()>;

// Writes into an open file, and syncs where asked. Returns the errno of what failed, or 0.
int write_all(Descriptor&& file, const Pieces& next, bool sync) {
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

// Makes a rename in the folder durable. Some file systems cannot sync a folder; that is not treated
// as an error.
void sync_folder(const std::string& path) {
  Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.fd >= 0) ::fsync(folder.fd);
}

// Returns a name that no other writer on any machine has: two that write one file do not meet
// before one of them renames, and the last to do so wins.
std::string partial_name(const std::string& path) {
  static std::atomic<unsigned> count = 0;
  return path + "." + process_tag() + "-" + std::to_string(count++) + std::string(kPartial);
}

// Returns what `path` leads to where it is a link, because what is written through a link leaves
// the link.
std::string followed(std::string path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i)
    path = (fs::path(folder_of(path)) / fs::read_symlink(path, error)).string();
  return path;
}

// Says whether a path is a device or a pipe, which can be written to and not be replaced.
bool is_special(const std::string& path) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  return fs::exists(found) && !fs::is_regular_file(found) && !fs::is_directory(found);
}

void write_and_rename(const std::string& named, const Pieces& next, bool sync) {
  if (is_special(named)) {
    const int failed = write_all({::open(named.c_str(), O_WRONLY | O_CLOEXEC)}, next, false);
    if (failed != 0) fail(named, failed);
    return;
  }
  const std::string path = followed(named);
  const std::string partial = partial_name(path);
  const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  int cause = write_all({fd}, next, sync);
  if (cause == 0 && std::rename(partial.c_str(), path.c_str()) != 0) cause = errno;
  if (cause != 0) {
    ::unlink(partial.c_str());
    fail(named, cause);
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

void remove_leftovers(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(kPartial)) continue;
    name.erase(name.size() - kPartial.size());
    const std::string tag = name.substr(name.rfind('.') + 1);
    if (tag_is_gone(tag.substr(0, tag.rfind('-')))) fs::remove(entry.path(), error);
  }
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> parents;
  for (fs::path at = path; !at.empty() && !fs::exists(at, error); at = at.parent_path())
    parents.push_back(folder_of(at.string()));
  fs::create_directories(path, error);
  if (error) throw OutputError("cannot create the folder '{}': {}", path, error.message());
  if (!fs::is_directory(path, error)) throw OutputError("'{}' is not a folder", path);
  for (const std::string& parent : parents) sync_folder(parent);
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
