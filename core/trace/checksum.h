// A checksum that a file carries of itself, so that a bit that flips on a disk is an error and not
// another number. Formats that hold texts can carry it: HDF5 knows nothing of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace draftlab {

// The text that a file must hold to be sealed; its digits become the CRC-32 of all its bytes, these
// digits being zeros.
inline constexpr std::string_view kUnsealed = "draftlab-crc32:00000000";

// Fills in the digits where the bytes hold such a text.
void seal(std::span<std::byte> file);

// Says whether a file agrees with the checksum that it states; a file that states none is intact.
bool is_intact(std::span<const std::byte> file);
// The same of a file on the disk. True where it cannot be read: whoever opens it will say so.
bool is_intact(const std::string& path);

}  // namespace draftlab
