// Files of weights, mapped into memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace draftlab {

// Maps a file for reading. Throws DataError where it cannot be read, or is shorter than `least`
// bytes; `shorter` then says what it is not.
std::span<const std::byte> map_file(const std::string& path, std::size_t least,
                                    const std::string& shorter);
void unmap(std::span<const std::byte> bytes);

// Removes the pages that hold nothing but these bytes from this process's memory until they are
// read again.
void release_pages(std::span<const std::byte> bytes);

// Returns the digest of a mapped file, 16 hex digits.
std::string digest_of(std::span<const std::byte> file);

}  // namespace draftlab
