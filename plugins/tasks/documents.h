// Text of a researcher's own: plain files, CSV and JSON lines, read whole and refused in one sentence when they are not what
// they should be.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// A file's bytes; DataError when it cannot be read, is empty, is larger than `most` bytes, or is not UTF-8 (with the line).
// A byte order mark is dropped.
std::string read_utf8(const std::string& path, std::size_t most = std::size_t{1} << 31);

// Non-blank lines, without their ends.
std::vector<std::string> read_lines(const std::string& path);
// Paragraphs: lines between blank lines, joined by one space.
std::vector<std::string> read_paragraphs(const std::string& path);

}  // namespace draftlab
