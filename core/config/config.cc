#include "core/config/config.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/missing_file.h"
#include "core/config/config_lines.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFile = 1 << 20;  // A file with more bytes is no config.
// A file with more keys is no config.
constexpr std::size_t kMostKeys = 10000;
// The number of files that are read for one config, repeats included.
constexpr int kMostFiles = 100;

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
  Reader(Config& config, Diagnostics& diagnostics) : config_(config), diagnostics_(diagnostics) {}

  // Returns the comment block that opens the text.
  std::string read(const std::string& text, const std::string& name) {
    ConfigLines lines(name, open_.empty(), diagnostics_);
    lines.read(text);
    open_.push_back(canonical(name));
    for (const Config::Entry& include : lines.includes())
      follow(include, fs::path(name).parent_path());
    open_.pop_back();
    if (lines.entries().size() > kMostKeys)
      diagnostics_.add("{} has {} keys, more than {}, so it is no config", name,
                       lines.entries().size(), kMostKeys);
    else
      for (const Config::Entry& entry : lines.entries()) config_.set(entry);
    return lines.title();
  }

 private:
  void follow(const Config::Entry& include, const fs::path& folder) {
    const std::string path = (folder / include.value).lexically_normal().string();
    if (std::find(open_.begin(), open_.end(), canonical(path)) != open_.end()) {
      return diagnostics_.add("{}: include = {} includes itself", include.where, include.value);
    }
    if (++files_ > kMostFiles) {
      if (files_ > kMostFiles + 1) return;
      return diagnostics_.add("{}: more than {} files are included", include.where, kMostFiles);
    }
    std::string why;
    const std::string text = slurp(path, why);
    if (!why.empty())
      return diagnostics_.add("{}: include = {}, but {} {}", include.where, include.value, path,
                              why);
    read(text, path);
  }

  Config& config_;
  Diagnostics& diagnostics_;
  std::vector<std::string> open_;
  int files_ = 0;
};

}  // namespace

Config Config::read(const std::string& path,
                    const std::vector<std::pair<std::string, std::string>>& overrides,
                    Diagnostics& diagnostics) {
  std::string why;
  const std::string text = slurp(path, why);
  if (!why.empty()) throw DataError("{} {}", path, why);
  Config config = parse(text, path, diagnostics);
  for (const auto& [key, value] : overrides) {
    const std::string flag = "--" + key, kept = trimmed(without_comment(" " + value));
    if (!is_key(key))
      diagnostics.add("{}: '{}' {}", flag, key, kNoKey);
    else if (!is_text(value))
      diagnostics.add("{}: the value is not UTF-8 text", flag);
    else if (kept != trimmed(value))
      diagnostics.add("{} = {} holds a comment, which a config could not hold", flag, value);
    else
      config.set({key, value_from("", key, kept), flag});
  }
  return config;
}

Config Config::parse(const std::string& text, const std::string& name, Diagnostics& diagnostics) {
  Config config;
  config.title_ = Reader(config, diagnostics).read(text, name);
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
