// A config file and its overrides as a flat list of dotted keys, each with the place it came from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace draftlab {

// These spell the same key:
//   [router.hysteresis] on = 1,  router.hysteresis.on = 1  and  --router.hysteresis.on 1.
// `#` and `;` begin a comment only at the start of a line or after white space. `include = PATH`
// (relative to the file that names it) is read first and overridden by the including file; the
// command line overrides both.
class Config {
 public:
  struct Entry {
    std::string key, value;
    // The place of the entry, such as "configs/a.ini:7" or "--router.hysteresis.on".
    std::string where;
  };

  // Reads a file and applies the overrides. Errors of syntax (a line that is neither section, entry
  // nor comment; a key set twice in one file; an include that is missing or includes itself) are
  // added to `diagnostics`. Throws DataError when `path` cannot be read.
  static Config read(const std::string& path,
                     const std::vector<std::pair<std::string, std::string>>& overrides,
                     Diagnostics& diagnostics);
  static Config parse(const std::string& text, const std::string& name, Diagnostics& diagnostics);

  const Entry* find(const std::string& key) const;
  // Sets an entry and replaces the one of the same key, if any.
  void set(Entry entry);
  // Does the same with an entry that other configs share.
  void set(std::shared_ptr<const Entry> entry);
  void erase(const std::string& key);
  std::vector<const Entry*> entries() const;
  // Returns the entries whose keys begin with "prefix.".
  std::vector<const Entry*> section(const std::string& prefix) const;
  // The comment block that opens the file: the question, what is expected, and what it costs.
  const std::string& title() const { return title_; }

 private:
  // The entries are shared with copies, because a sweep has as many configs as cells.
  std::vector<std::shared_ptr<const Entry>> entries_;
  std::string title_;
};

// Returns the file that a config was read from: the place of its last entry names it.
std::string file_of(const Config& config);

}  // namespace draftlab
