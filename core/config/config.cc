#include "core/config/config.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/base/missing_file.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoKey =
    "is not a key; keys have lower-case letters, digits, '_', '-' and '.'";
constexpr std::size_t kLongestFile = 1 << 20;  // A file with more bytes is no config.
// A file with more keys is no config.
constexpr std::size_t kMostKeys = 10000;
// The number of files that are read for one config, repeats included.
constexpr int kMostFiles = 100;

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

// Says whether a line is UTF-8 without control characters other than the tab.
bool is_text(const std::string& line) {
  for (std::size_t i = 0; i < line.size();) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) return false;
    const std::size_t length = byte < 0x80                   ? 1
                               : byte >= 0xc2 && byte < 0xe0 ? 2
                               : (byte & 0xf0) == 0xe0       ? 3
                               : byte >= 0xf0 && byte < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || i + length > line.size()) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(line[i + k]) & 0xc0) != 0x80) return false;
    i += length;
  }
  return true;
}

std::string without_comment(const std::string& line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool after_space = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
    if ((line[i] == '#' || line[i] == ';') && after_space) return line.substr(0, i);
  }
  return line;
}

// Returns a path that is relative to `folder` as one relative to the current folder, or as an
// absolute one where it does not lie below the current folder.
std::string from_here(const fs::path& folder, const std::string& path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const fs::path whole = fs::absolute(folder / path, error).lexically_normal();
  const fs::path below = whole.lexically_relative(here);
  return below.empty() || *below.begin() == ".." ? whole.string() : below.string();
}

// Rewrites the words of a value that begin with ./ or ../: they are paths relative to the folder of
// the file that names them. All other paths are relative to the current folder.
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

// A file of plugins belongs to the config that names it, so its path is always relative to that.
bool is_plugin(const std::string& key) { return key.starts_with("plugins."); }
std::string plugin_path(const std::string& value, const fs::path& folder) {
  const bool address = value.starts_with("unix:") || value.starts_with("tcp:");
  return value.empty() || address ? value : from_here(folder, value);
}

// Returns the text of a file; when it cannot be read, returns "" and sets `why`.
std::string slurp(const std::string& path, std::string& why) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return why = fs::exists(path, error) ? "is not a file" : "does not exist" + file_hint(path), "";
  if (fs::file_size(path, error) > kLongestFile)
    return why = "is longer than 1 MiB, so it is no config", "";
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !text) {
    if (fs::file_size(path, error) > 0) return why = "cannot be read", "";
  }
  if (text.str().find('\0') != std::string::npos) return why = "is no text, so it is no config", "";
  return text.str();
}

std::string canonical(const std::string& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? path : found.string();
}

// Reads one file and what it includes. `open` holds the files that are being read, outermost first.
class Reader {
 public:
  Reader(Config& config, Faults& faults) : config_(config), faults_(faults) {}

  // Returns the comment block that opens the text.
  std::string read(const std::string& text, const std::string& name) {
    std::vector<Config::Entry> entries, includes;
    std::string title = scan(text, name, entries, includes);
    open_.push_back(canonical(name));
    for (const Config::Entry& include : includes) follow(include, fs::path(name).parent_path());
    open_.pop_back();
    if (entries.size() > kMostKeys) {
      faults_.add("{} has {} keys, more than {}, so it is no config", name, entries.size(),
                  kMostKeys);
      return title;
    }
    for (Config::Entry& entry : entries) config_.set(std::move(entry));
    return title;
  }

 private:
  void follow(const Config::Entry& include, const fs::path& folder) {
    const std::string path = (folder / include.value).lexically_normal().string();
    if (std::find(open_.begin(), open_.end(), canonical(path)) != open_.end()) {
      return faults_.add("{}: include = {} includes itself", include.where, include.value);
    }
    if (++files_ > kMostFiles) {
      if (files_ > kMostFiles + 1) return;
      return faults_.add("{}: more than {} files are included", include.where, kMostFiles);
    }
    std::string why;
    const std::string text = slurp(path, why);
    if (!why.empty())
      return faults_.add("{}: include = {}, but {} {}", include.where, include.value, path, why);
    read(text, path);
  }

  // Takes a text apart, line by line.
  std::string scan(const std::string& text, const std::string& name,
                   std::vector<Config::Entry>& entries, std::vector<Config::Entry>& includes) {
    const fs::path folder = fs::path(name).parent_path();
    std::string title, section;
    std::map<std::string, int> first_line;
    // `known` says whether the section has a name, and `unfinished` whether the last entry's value
    // ends in a comma, so that it goes on in the next line that is indented.
    bool opening = true, known = true, unfinished = false;
    int number = 0;
    for (std::size_t begin = text.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0;
         begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      const std::string where = name + ":" + std::to_string(++number);
      // A file that a config includes may be anything, and what it holds is not shown.
      const auto shown = [&](const std::string& words) {
        return !open_.empty() ? std::string("the line") : "'" + words + "'";
      };
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!is_text(line)) {
        faults_.add("{}: the line is not UTF-8 text", where);
        continue;
      }
      const std::string comment = trimmed(line);
      if (opening && !comment.empty() && (comment[0] == '#' || comment[0] == ';')) {
        title += (title.empty() ? "" : "\n") + trimmed(comment.substr(1));
        continue;
      }
      opening = false;
      const bool indented = line.starts_with(' ') || line.starts_with('\t');
      line = trimmed(without_comment(line));
      if (line.empty()) continue;
      if (unfinished && indented) {
        entries.back().value += " " + with_paths(line, folder);
        unfinished = line.ends_with(',');
        continue;
      }
      unfinished = false;
      if (line.front() == '[') {
        const bool closed = line.back() == ']';
        section = trimmed(line.substr(1, line.size() - (closed ? 2 : 1)));
        known = is_key(section);
        if (!closed || !known)
          faults_.add("{}: {} is not a section; write [part.name] in lower case", where,
                      shown(line));
        continue;
      }
      const std::size_t equals = line.find('=');
      const std::string key = trimmed(line.substr(0, equals));
      if (equals == std::string::npos) {
        faults_.add("{}: {} is neither [section], key = value nor # comment", where, shown(line));
        continue;
      }
      if (!is_key(key)) {
        faults_.add("{}: {} {}", where, shown(key), kNoKey);
        continue;
      }
      Config::Entry entry{section.empty() ? key : section + "." + key,
                          trimmed(line.substr(equals + 1)), where};
      if (entry.key == "include") {
        includes.push_back(std::move(entry));
        continue;
      }
      if (!known) continue;
      entry.value =
          is_plugin(entry.key) ? plugin_path(entry.value, folder) : with_paths(entry.value, folder);
      const auto [place, fresh] = first_line.emplace(entry.key, number);
      if (!fresh) {
        faults_.add("{}: {} is set twice, first in line {}", where, entry.key, place->second);
        continue;
      }
      unfinished = entry.value.ends_with(',');
      entries.push_back(std::move(entry));
    }
    return title;
  }

  Config& config_;
  Faults& faults_;
  std::vector<std::string> open_;
  int files_ = 0;
};

}  // namespace

Config Config::read(const std::string& path,
                    const std::vector<std::pair<std::string, std::string>>& overrides,
                    Faults& faults) {
  std::string why;
  const std::string text = slurp(path, why);
  if (!why.empty()) throw DataError("{} {}", path, why);
  Config config = parse(text, path, faults);
  for (const auto& [key, value] : overrides) {
    const std::string flag = "--" + key, kept = trimmed(without_comment(" " + value));
    if (!is_key(key))
      faults.add("{}: '{}' {}", flag, key, kNoKey);
    else if (!is_text(value))
      faults.add("{}: the value is not UTF-8 text", flag);
    else if (kept != trimmed(value))
      faults.add("{} = {} holds a comment, which a config could not hold", flag, value);
    else
      config.set({key, is_plugin(key) ? plugin_path(kept, "") : with_paths(kept, ""), flag});
  }
  return config;
}

Config Config::parse(const std::string& text, const std::string& name, Faults& faults) {
  Config config;
  config.title_ = Reader(config, faults).read(text, name);
  return config;
}

const Config::Entry* Config::find(const std::string& key) const {
  for (const auto& entry : entries_)
    if (entry->key == key) return entry.get();
  return nullptr;
}

void Config::set(Entry entry) { set(std::make_shared<const Entry>(std::move(entry))); }

void Config::set(std::shared_ptr<const Entry> entry) {
  for (auto& present : entries_)
    if (present->key == entry->key) return void(present = std::move(entry));
  entries_.push_back(std::move(entry));
}

void Config::erase(const std::string& key) {
  std::erase_if(entries_, [&](const auto& entry) { return entry->key == key; });
}

std::vector<const Config::Entry*> Config::entries() const {
  std::vector<const Entry*> all;
  for (const auto& entry : entries_) all.push_back(entry.get());
  return all;
}

std::vector<const Config::Entry*> Config::section(const std::string& prefix) const {
  const std::size_t length = prefix.size();
  std::vector<const Entry*> found;
  for (const auto& entry : entries_) {
    const std::string& key = entry->key;
    if (key.size() > length && key[length] == '.' && key.compare(0, length, prefix) == 0)
      found.push_back(entry.get());
  }
  return found;
}

std::string file_of(const Config& config) {
  const std::vector<const Config::Entry*> entries = config.entries();
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if ((*entry)->where.compare(0, 2, "--") != 0)
      return (*entry)->where.substr(0, (*entry)->where.rfind(':'));
  }
  return "the config";
}

}  // namespace draftlab
