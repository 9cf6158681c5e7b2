// Regular expressions as tokenizer files write them, over UTF-8.
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
  // DataError when it is no pattern or uses what is refused.
  explicit Pattern(const std::string& expression);
  // A text that stands for itself.
  static Pattern literal(const std::string& text);
  // Its matches from the left, none empty. `text` must be valid UTF-8. DataError where matching
  // takes too much.
  std::vector<Range> matches(std::string_view text) const;

 private:
  struct Code;
  Pattern(const std::string& expression, bool literal);
  std::string expression_;
  std::shared_ptr<const Code> code_;
};

}  // namespace draftlab
