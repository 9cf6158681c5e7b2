#include "core/config/config_lines.h"

#include <algorithm>
#include <string_view>

#include "core/base/text.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Returns a path that is relative to `folder` as one relative to the current folder, or as an
// absolute one where it does not lie below the current folder.
std::string from_here(const fs::path& folder, const std::string& path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const fs::path whole = fs::absolute(folder / path, error).lexically_normal();
  const fs::path below = whole.lexically_relative(here);
  return below.empty() || *below.begin() == ".." ? whole.string() : below.string();
}

std::string with_paths(const std::string& value, const fs::path& folder) {
  constexpr std::string_view kBetween = ",= \t";
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < value.size(); begin = end) {
    end = std::min(value.find_first_of(kBetween, begin), value.size());
    const std::string word = value.substr(begin, end - begin);
    const bool is_path = word.starts_with("./") || word.starts_with("../");
    text += is_path ? from_here(folder, word) : word;
    while (end < value.size() && kBetween.find(value[end]) != kBetween.npos) text += value[end++];
  }
  return text;
}

}  // namespace

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_key(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain) && text.front() != '.' &&
         text.back() != '.' && text.find("..") == std::string::npos;
}

bool is_text(const std::string& line) {
  const auto control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  };
  return std::none_of(line.begin(), line.end(), control) && invalid_utf8(line) == std::string::npos;
}

std::string without_comment(const std::string& line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool after_space = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
    if ((line[i] == '#' || line[i] == ';') && after_space) return line.substr(0, i);
  }
  return line;
}

std::string value_from(const fs::path& folder, const std::string& key, const std::string& value) {
  if (!key.starts_with("plugins.")) return with_paths(value, folder);
  // A file of plugins belongs to the config that names it; an address is no path.
  const bool address = value.starts_with("unix:") || value.starts_with("tcp:");
  return value.empty() || address ? value : from_here(folder, value);
}

void ConfigLines::read(const std::string& text) {
  for (std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
       begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number_;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (is_text(line))
      take(std::move(line));
    else
      diagnostics_.add("{}: the line is not UTF-8 text", where());
  }
}

void ConfigLines::take(std::string line) {
  const std::string comment = trimmed(line);
  if (opening_ && !comment.empty() && (comment[0] == '#' || comment[0] == ';')) {
    title_ += (title_.empty() ? "" : "\n") + trimmed(comment.substr(1));
    return;
  }
  opening_ = false;
  const bool indented = line.starts_with(' ') || line.starts_with('\t');
  line = trimmed(without_comment(line));
  if (line.empty()) return;
  if (unfinished_ && indented) {
    entries_.back().value += " " + with_paths(line, folder_);
    unfinished_ = line.ends_with(',');
    return;
  }
  unfinished_ = false;
  if (line.front() == '[')
    begin_section(line);
  else
    add_entry(line);
}

void ConfigLines::begin_section(const std::string& line) {
  const bool closed = line.back() == ']';
  section_ = trimmed(line.substr(1, line.size() - (closed ? 2 : 1)));
  named_ = is_key(section_);
  if (!closed || !named_)
    diagnostics_.add("{}: {} is not a section; write [part.name] in lower case", where(),
                     quoted(line));
}

void ConfigLines::add_entry(const std::string& line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos)
    return diagnostics_.add("{}: {} is neither [section], key = value nor # comment", where(),
                            quoted(line));
  const std::string key = trimmed(line.substr(0, equals));
  if (!is_key(key)) return diagnostics_.add("{}: {} {}", where(), quoted(key), kNoKey);
  keep({section_.empty() ? key : section_ + "." + key, trimmed(line.substr(equals + 1)), where()});
}

void ConfigLines::keep(Config::Entry entry) {
  if (entry.key == "include") return includes_.push_back(std::move(entry));
  if (!named_) return;
  const auto [place, fresh] = first_line_.emplace(entry.key, number_);
  if (!fresh)
    return diagnostics_.add("{}: {} is set twice, first in line {}", entry.where, entry.key,
                            place->second);
  entry.value = value_from(folder_, entry.key, entry.value);
  unfinished_ = entry.value.ends_with(',');
  entries_.push_back(std::move(entry));
}

std::string ConfigLines::quoted(const std::string& words) const {
  return shown_ ? "'" + words + "'" : "the line";
}

}  // namespace draftlab
