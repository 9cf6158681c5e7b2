// The syntax of one config file: sections, entries, values that go on in the next line, comments.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"

namespace draftlab {

inline constexpr const char* kNoKey =
    "is not a key; keys have lower-case letters, digits, '_', '-' and '.'";

bool is_key(const std::string& text);
// Says whether a line is UTF-8 without control characters other than the tab.
bool is_text(const std::string& line);
std::string trimmed(const std::string& text);
std::string without_comment(const std::string& line);
// Returns a value of `key` whose relative paths, which are relative to `folder`, are relative to
// the current folder: the words that begin with ./ or ../, and every file of plugins.
std::string value_from(const std::filesystem::path& folder, const std::string& key,
                       const std::string& value);

// Takes the text of one file apart, line by line. What is wrong is added to `diagnostics`.
class ConfigLines {
 public:
  // A file that a config includes may be anything, and what it holds is not `shown`.
  ConfigLines(const std::string& name, bool shown, Diagnostics& diagnostics)
      : name_(name),
        folder_(std::filesystem::path(name).parent_path()),
        shown_(shown),
        diagnostics_(diagnostics) {}
  void read(const std::string& text);

  // The comment block that opens the text.
  const std::string& title() const { return title_; }
  const std::vector<Config::Entry>& entries() const { return entries_; }
  const std::vector<Config::Entry>& includes() const { return includes_; }

 private:
  void take(std::string line);
  void begin_section(const std::string& line);
  void add_entry(const std::string& line);
  void keep(Config::Entry entry);
  std::string where() const { return name_ + ":" + std::to_string(number_); }
  std::string quoted(const std::string& words) const;

  std::string name_;
  std::filesystem::path folder_;
  bool shown_;
  Diagnostics& diagnostics_;
  std::string title_, section_;
  std::vector<Config::Entry> entries_, includes_;
  std::map<std::string, int> first_line_;
  int number_ = 0;
  // Nothing but comments has come yet.
  bool opening_ = true;
  // The section has a name.
  bool named_ = true;
  // The last entry's value ends in a comma, so it goes on in the next line that is indented.
  bool unfinished_ = false;
};

}  // namespace draftlab
