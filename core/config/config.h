// A config file and its overrides as a flat list of dotted keys, each with the place it came from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace draftlab {

// [router.hysteresis] on = 1   and   router.hysteresis.on = 1   and   --router.hysteresis.on 1 are
// the same key.
// `#` and `;` begin a comment only at the start of a line or after white space. `include = PATH`
// (relative to the file that names it) is read first and beaten by the file; the command line beats
// both.
class Config {
 public:
  struct Entry {
    std::string key, value;
    std::string where;  // "configs/a.ini:7" or "--router.hysteresis.on"
  };

  // Faults of syntax (a line that is neither section, entry nor comment; a key set twice in one
  // file; an include that is missing or includes itself) are added to `faults`. DataError when
  // `path` cannot be read.
  static Config read(const std::string& path,
                     const std::vector<std::pair<std::string, std::string>>& overrides,
                     Faults& faults);
  static Config parse(const std::string& text, const std::string& name, Faults& faults);

  const Entry* find(const std::string& key) const;
  void set(Entry entry);                         // replaces
  void set(std::shared_ptr<const Entry> entry);  // the same, shared with other configs
  void erase(const std::string& key);
  std::vector<const Entry*> entries() const;
  std::vector<const Entry*> section(
      const std::string& prefix) const;  // keys that begin with "prefix."
  const std::string& title() const {
    return title_;
  }  // the comment block that opens the file: question, expectation, cost

 private:
  std::vector<std::shared_ptr<const Entry>>
      entries_;  // shared with copies: a sweep has as many configs as cells
  std::string title_;
};

}  // namespace draftlab
