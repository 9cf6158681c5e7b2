// Files that are there whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace draftlab {

// Creates or replaces `path`: written under a temporary name in the same folder, synced, renamed, the folder synced. A kill at
// any moment leaves the old file, or the new one, and at most a leftover that ends in kPartial. OutputError naming the path
// and the cause when it cannot be done; then nothing is left behind.
void write_whole(const std::string& path, std::span<const std::byte> bytes);
void write_whole(const std::string& path, std::string_view text);

inline constexpr std::string_view kPartial = ".partial";

// Creates the folder and its parents. OutputError when that is impossible or something else has the name.
void make_folder(const std::string& path);

// The folder that `path` lies in; "." for a bare name.
std::string folder_of(const std::string& path);

}  // namespace draftlab
