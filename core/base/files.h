// Writes files so that each is there whole or not at all, and remembers the digests of large files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace draftlab {

// Creates or replaces `path`. The contents are written under a temporary name of this process alone
// in the same folder and synced; then the file is renamed and the folder synced. A kill at any
// moment leaves the old file or the new one, and at most a leftover that ends in kPartial. Where
// `path` is a link, what it leads to is written; a device or a pipe is written to and not replaced.
// When the file cannot be written, OutputError names the path and the cause, and nothing is left
// behind.
void write_whole(const std::string& path, std::span<const std::byte> bytes);
void write_whole(const std::string& path, std::string_view text);
// Does the same for contents that are larger than memory: each call of `next` gives a piece, which
// is written before the next call; an empty piece ends the file.
void write_whole(const std::string& path, const std::function<std::span<const std::byte>()>& next);
// Does the same without syncing, for contents that can be computed again if a power failure takes
// them.
void replace_whole(const std::string& path, std::string_view text);

inline constexpr std::string_view kPartial = ".partial";
// What is added to the name of a file that cannot be read, so that it is made anew.
inline constexpr std::string_view kDamaged = ".damaged";
// Removes the leftovers in a folder whose writer is known to be gone.
void remove_leftovers(const std::string& folder);

// Creates the folder and its parents. Throws OutputError when that is impossible or when something
// else has the name.
void make_folder(const std::string& path);

// Returns the folder that `path` lies in, and "." for a bare name.
std::string folder_of(const std::string& path);

// A file as it stood at some time. Files with equal stamps have equal contents.
struct FileStamp {
  // The absolute path.
  std::string path;
  // The size in bytes, and the time of the last change in nanoseconds.
  std::int64_t size = 0, changed = 0;
  auto operator<=>(const FileStamp&) const = default;
};

// The digest of a file is computed once a process, and not at all where it was remembered for the
// file as it stands. So a checkpoint of many gigabytes is hashed by the process that freezes a
// sweep, and not by every process that loads it.
std::string digest_once(const std::string& path, const std::function<std::string()>& compute);
void remember_digest(const FileStamp& file, const std::string& digest);
std::map<FileStamp, std::string> remembered_digests();

}  // namespace draftlab
