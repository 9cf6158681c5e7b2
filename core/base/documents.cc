#include "core/base/documents.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include <zlib.h>

#include "core/base/error.h"
#include "core/base/json_lines.h"
#include "core/base/missing_file.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

// Reads one row of comma-separated values at a time.
class CsvReader {
 public:
  CsvReader(const std::string& text, const std::string& name) : text_(text), name_(name) {}
  bool done() const { return at_ >= text_.size(); }
  std::size_t line() const { return line_; }

  std::vector<std::string> row() {
    std::vector<std::string> fields;
    do fields.push_back(sees('"') ? quoted() : plain());
    while (take(','));
    if (sees('\r') && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    if (!done() && !take('\n')) throw DataError("{}: text after a closing quote", here());
    return fields;
  }

 private:
  bool sees(char c) const { return !done() && text_[at_] == c; }
  char next() {
    if (text_[at_] == '\n') ++line_;
    return text_[at_++];
  }
  bool take(char c) {
    if (!sees(c)) return false;
    next();
    return true;
  }
  std::string here() const { return "'" + name_ + "' line " + std::to_string(line_); }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
    std::string field = text_.substr(at_, end - at_);
    at_ = end;
    if (!field.empty() && field.back() == '\r' && !sees(',')) field.pop_back();
    return field;
  }
  std::string quoted() {
    const std::string begin = here();
    std::string field;
    for (++at_;;) {
      if (done()) throw DataError("{}: the quote that opens here is never closed", begin);
      if (take('"')) {
        if (!take('"')) return field;
        field += '"';
      } else {
        field += next();
      }
    }
  }

  const std::string& text_;
  std::string name_;
  std::size_t at_ = 0, line_ = 1;
};

std::string whole(const std::string& path, std::size_t most) {
  const auto size = std::filesystem::file_size(path);
  if (size > most)
    throw DataError("'{}' has {} bytes, more than the {} that are read", path, size, most);
  std::string text(size, '\0');
  std::ifstream in(path, std::ios::binary);
  if (size > 0 && !in.read(text.data(), static_cast<std::streamsize>(size)))
    throw DataError("cannot read '{}'", path);
  return text;
}

// Returns what a file packed by gzip holds.
std::string unpacked(const std::string& path, std::size_t most) {
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  std::string text, part(1 << 16, '\0');
  int count = file ? 1 : -1;
  while (count > 0 && text.size() <= most) {
    count = gzread(file.get(), part.data(), static_cast<unsigned>(part.size()));
    if (count > 0) text.append(part, 0, static_cast<std::size_t>(count));
  }
  if (text.size() > most)
    throw DataError("'{}' unpacks to more than the {} bytes that are read", path, most);
  if (count < 0 || gzclose(file.release()) != Z_OK)
    throw DataError("'{}' is cut short or damaged", path);
  return text;
}

void refuse_if_none(const std::vector<std::string>& documents, const std::string& path) {
  if (documents.empty()) throw DataError("'{}' holds no text: every line is blank", path);
}

}  // namespace

bool blank(const std::string& line) {
  return line.find_first_not_of(" \t\r\n\f\v") == std::string::npos;
}

std::vector<std::string> all_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

std::string read_utf8(const std::string& path, std::size_t most) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw DataError("there is no file '{}'{}", path, file_hint(path));
  std::string text = path.ends_with(".gz") ? unpacked(path, most) : whole(path, most);
  if (text.empty()) throw DataError("'{}' is empty", path);
  if (const std::size_t at = invalid_utf8(text); at != std::string::npos)
    throw DataError(
        "'{}' is not UTF-8 at line {}", path,
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines = all_lines(read_utf8(path));
  std::erase_if(lines, blank);
  refuse_if_none(lines, path);
  return lines;
}

std::vector<std::string> read_paragraphs(const std::string& path) {
  std::vector<std::string> paragraphs;
  bool open = false;
  for (const std::string& line : all_lines(read_utf8(path))) {
    if (blank(line)) {
      open = false;
    } else if (open) {
      paragraphs.back() += " " + line;
    } else {
      paragraphs.push_back(line);
      open = true;
    }
  }
  refuse_if_none(paragraphs, path);
  return paragraphs;
}

bool CsvTable::has(const std::string& column) const {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::size_t CsvTable::column(const std::string& column) const {
  if (!has(column))
    throw DataError("'{}' has no column '{}', only {}", name, column, joined(columns));
  return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) -
                                  columns.begin());
}

CsvTable parse_csv(const std::string& text, const std::string& name) {
  CsvReader reader(text, name);
  CsvTable table{name, {}, {}, {}};
  if (!reader.done()) table.columns = reader.row();
  while (!reader.done()) {
    const std::size_t line = reader.line();
    std::vector<std::string> row = reader.row();
    if (row.size() == 1 && blank(row[0])) continue;
    if (row.size() != table.columns.size())
      throw DataError("'{}' line {} has {} fields where the header has {}", name, line, row.size(),
                      table.columns.size());
    table.rows.push_back(std::move(row));
    table.lines.push_back(line);
  }
  if (table.rows.empty()) throw DataError("'{}' holds no row below its header", name);
  return table;
}

CsvTable read_csv(const std::string& path) { return parse_csv(read_utf8(path), path); }

std::vector<std::string> parse_jsonl(const std::string& text, const std::string& name,
                                     const std::string& field) {
  std::vector<std::string> values;
  for (const JsonObject& object : json_objects(text, name)) {
    if (!object.has(field) || !object.json[field].is_string())
      throw DataError("{} has no text under '{}'", object.where, field);
    values.push_back(object.json[field].get<std::string>());
  }
  return values;
}

std::vector<std::string> read_jsonl(const std::string& path, const std::string& field) {
  return parse_jsonl(read_utf8(path), path, field);
}

}  // namespace draftlab
