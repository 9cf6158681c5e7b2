// Reads text files that a researcher brings along: plain text, CSV and JSON lines. Each file is
// read whole, and one that is not what it should be is refused in one sentence.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// Returns the bytes of a file. Throws DataError when the file cannot be read, is empty, is larger
// than `most` bytes, or is not UTF-8 (the message names the line). A byte order mark is dropped,
// and a file whose name ends in .gz is unpacked by gzip.
std::string read_utf8(const std::string& path, std::size_t most = std::size_t{1} << 31);

// all_lines() cuts a text into lines without their ends (a carriage return is part of an end);
// blank() says whether a line holds nothing but white space.
std::vector<std::string> all_lines(const std::string& text);
bool blank(const std::string& line);

// Returns the non-blank lines of a file, without their ends.
std::vector<std::string> read_lines(const std::string& path);
// Returns the paragraphs of a file: the lines between blank lines, joined by one space.
std::vector<std::string> read_paragraphs(const std::string& path);

// A table of comma-separated values (RFC 4180: fields may be quoted, and a quoted field may hold
// doubled quotes and line ends). The first row names the columns.
struct CsvTable {
  // The name of the file, for messages.
  std::string name;
  std::vector<std::string> columns;
  // Each row is as wide as the header.
  std::vector<std::vector<std::string>> rows;
  // The line of the file on which each row begins.
  std::vector<std::size_t> lines;
  bool has(const std::string& column) const;
  // The index of a column. Throws DataError naming the columns that exist.
  std::size_t column(const std::string& column) const;
};
CsvTable parse_csv(const std::string& text, const std::string& name);
CsvTable read_csv(const std::string& path);

// Each line holds one JSON object (or the whole file is one array of them); these functions return
// the string under `field` of each object. Blank lines are skipped.
std::vector<std::string> parse_jsonl(const std::string& text, const std::string& name,
                                     const std::string& field);
std::vector<std::string> read_jsonl(const std::string& path, const std::string& field);

}  // namespace draftlab
