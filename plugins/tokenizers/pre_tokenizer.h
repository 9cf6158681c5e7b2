// Cuts a text into words, as a tokenizer file says; pairs are merged only within a word.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/pattern.h"

namespace draftlab {

// What becomes of the matches of a step's pattern: they become words of their own, are joined to a
// neighbour, or are dropped.
enum class Cut { isolated, removed, merged_with_previous, merged_with_next, contiguous };

class PreTokenizer {
 public:
  // Cuts each word at the matches of `pattern`, or, with `invert`, at what lies between them.
  void add_cut(Pattern pattern, Cut cut, bool invert);
  // Puts a space in front of each word that has none.
  void add_space();
  // Returns the words, none of them empty. Words that had a space put in front are stored in
  // `made`; all others lie in `text`.
  std::vector<std::string_view> words(std::string_view text, std::deque<std::string>& made) const;

 private:
  struct Step {
    // The pattern of the step. Without one, a space is put in front.
    std::vector<Pattern> pattern;
    Cut cut = Cut::isolated;
    bool invert = false;
  };
  static void cut(const Step& step, std::string_view word, std::vector<std::string_view>& words);
  std::vector<Step> steps_;
};

// The patterns of tokenizers whose rule stands only in the code of other libraries. They serve
// folders that hold vocab.json and merges.txt alone.
extern const char* const kGpt2Pattern;
extern const char* const kQwen2Pattern;

}  // namespace draftlab
