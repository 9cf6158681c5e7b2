#include "plugins/tasks/documents.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "plugins/tokenizers/utf8.h"

namespace draftlab {
namespace {

bool blank(const std::string& line) { return line.find_first_not_of(" \t\r\f\v") == std::string::npos; }

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

void refuse_if_none(const std::vector<std::string>& documents, const std::string& path) {
  if (documents.empty()) throw DataError("'" + path + "' holds no text: every line is blank");
}

}  // namespace

std::string read_utf8(const std::string& path, std::size_t most) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw DataError("there is no file '" + path + "'");
  const auto size = std::filesystem::file_size(path, error);
  if (size == 0) throw DataError("'" + path + "' is empty");
  if (size > most) throw DataError("'" + path + "' has " + std::to_string(size) + " bytes, more than the " + std::to_string(most) + " that are read");
  std::string text(size, '\0');
  std::ifstream in(path, std::ios::binary);
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) throw DataError("cannot read '" + path + "'");
  if (const std::size_t at = invalid_utf8(text); at != std::string::npos)
    throw DataError("'" + path + "' is not UTF-8 at line " + std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
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

}  // namespace draftlab
