// How a tokenizer file cuts a text into words, within which pairs are merged.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/tokenizers/pattern.h"

namespace draftlab {

// What becomes of the matches of a step's pattern: words of their own, of their neighbours, or
// nothing.
enum class Cut { isolated, removed, merged_with_previous, merged_with_next, contiguous };

class PreTokenizer {
 public:
  // Cuts each word at the matches of `pattern`, or, with `invert`, at what lies between them.
  void add_cut(Pattern pattern, Cut cut, bool invert);
  // Puts a space in front of each word that has none.
  void add_space();
  // Words that had a space put in front live in `made`; all others in `text`. None is empty.
  std::vector<std::string_view> words(std::string_view text, std::deque<std::string>& made) const;

 private:
  struct Step {
    std::vector<Pattern> pattern;  // none: a space is put in front
    Cut cut = Cut::isolated;
    bool invert = false;
  };
  static void cut(const Step& step, std::string_view word, std::vector<std::string_view>& words);
  std::vector<Step> steps_;
};

// The patterns of the tokenizers that are no more than code elsewhere, where a folder has
// vocab.json and merges.txt alone.
extern const char* const kGpt2Pattern;
extern const char* const kQwen2Pattern;

}  // namespace draftlab
