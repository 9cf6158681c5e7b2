// Matches the regular expressions of tokenizer files over UTF-8.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

struct Range {
  std::size_t begin = 0, end = 0;
};

// The dialect of the files is Oniguruma's; PCRE2 matches it. What the two read differently is
// translated (\s, \S, \w, \W) or refused by name.
class Pattern {
 public:
  // Throws DataError when the expression is not a pattern or uses what is refused.
  explicit Pattern(const std::string& expression);
  // Returns a pattern that matches a text as it stands.
  static Pattern literal(const std::string& text);
  // Returns the matches from the left, none of them empty. `text` must be valid UTF-8. Throws
  // DataError where matching takes too much time or memory.
  std::vector<Range> matches(std::string_view text) const;

 private:
  struct Code;
  Pattern(const std::string& expression, bool literal);
  std::string expression_;
  std::shared_ptr<const Code> code_;
};

}  // namespace draftlab
