// Files that are there whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace draftlab {

// Creates or replaces `path`: written under a temporary name of this process alone in the same
// folder, synced, renamed, the folder synced. A kill at any moment leaves the old file, or the new
// one, and at most a leftover that ends in kPartial. Where `path` is a link, what it leads to is
// written; a device or a pipe is written to and not replaced. OutputError naming the path and the
// cause when it cannot be done; then nothing is left behind.
void write_whole(const std::string& path, std::span<const std::byte> bytes);
void write_whole(const std::string& path, std::string_view text);
// The same for what is larger than memory: each call of `next` gives a piece, which is written
// before the next call; an empty one ends the file.
void write_whole(const std::string& path, const std::function<std::span<const std::byte>()>& next);
// The same without syncing: for what can be found out again where a power failure takes it.
void replace_whole(const std::string& path, std::string_view text);

inline constexpr std::string_view kPartial = ".partial";
// What is added to the name of a file that cannot be read, so that it is made anew.
inline constexpr std::string_view kDamaged = ".damaged";
// Removes the leftovers in a folder whose writer is known to be gone.
void remove_leftovers(const std::string& folder);

// Creates the folder and its parents. OutputError when that is impossible or something else has the
// name.
void make_folder(const std::string& path);

// The folder that `path` lies in; "." for a bare name.
std::string folder_of(const std::string& path);

// A file as it stood at some time. Equal stamps, equal contents.
struct FileStamp {
  std::string path;                    // absolute
  std::int64_t size = 0, changed = 0;  // bytes; nanoseconds
  auto operator<=>(const FileStamp&) const = default;
};

// The digest of a file: computed once a process, and not at all where it was remembered for the
// file as it stands. A checkpoint of many gigabytes is hashed by whoever freezes a sweep, and not
// by every process that loads it.
std::string digest_once(const std::string& path, const std::function<std::string()>& compute);
void remember_digest(const FileStamp& file, const std::string& digest);
std::map<FileStamp, std::string> remembered_digests();

}  // namespace draftlab
