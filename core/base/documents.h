// Text of a researcher's own: plain files, CSV and JSON lines, read whole and refused in one
// sentence when they are not what they should be.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// A file's bytes; DataError when it cannot be read, is empty, is larger than `most` bytes, or is
// not UTF-8 (with the line). A byte order mark is dropped, and a name that ends in .gz is unpacked
// by gzip.
std::string read_utf8(const std::string& path, std::size_t most = std::size_t{1} << 31);

// Lines of a text, without their ends (a carriage return is part of an end), and whether one has
// nothing to read.
std::vector<std::string> all_lines(const std::string& text);
bool blank(const std::string& line);

// Non-blank lines, without their ends.
std::vector<std::string> read_lines(const std::string& path);
// Paragraphs: lines between blank lines, joined by one space.
std::vector<std::string> read_paragraphs(const std::string& path);

// Comma-separated values (RFC 4180: "quoted, with ""quotes"" and line ends"), the first row naming
// the columns.
struct CsvTable {
  std::string name;  // of the file, for messages
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // each as wide as the header
  std::vector<std::size_t> lines;              // on which each row begins
  bool has(const std::string& column) const;
  std::size_t column(const std::string& column) const;  // DataError naming the columns there are
};
CsvTable parse_csv(const std::string& text, const std::string& name);
CsvTable read_csv(const std::string& path);

// One JSON object a line (or one array of them); the string under `field` of each. Blank lines are
// skipped.
std::vector<std::string> parse_jsonl(const std::string& text, const std::string& name,
                                     const std::string& field);
std::vector<std::string> read_jsonl(const std::string& path, const std::string& field);

}  // namespace draftlab
