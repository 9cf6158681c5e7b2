#include "plugins/tokenizers/pre_tokenizer.h"

namespace draftlab {

const char* const kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const char* const kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

void PreTokenizer::add_cut(Pattern pattern, Cut cut, bool invert) {
  steps_.push_back({{std::move(pattern)}, cut, invert});
}
void PreTokenizer::add_space() { steps_.push_back({}); }

std::vector<std::string_view> PreTokenizer::words(std::string_view text,
                                                  std::deque<std::string>& made) const {
  std::vector<std::string_view> words{text};
  for (const Step& step : steps_) {
    std::vector<std::string_view> next;
    for (const std::string_view word : words) {
      if (!step.pattern.empty())
        cut(step, word, next);
      else if (word.starts_with(' '))
        next.push_back(word);
      else
        next.push_back(made.emplace_back(" " + std::string(word)));
    }
    words = std::move(next);
  }
  return words;
}

void PreTokenizer::cut(const Step& step, std::string_view word,
                       std::vector<std::string_view>& words) {
  struct Part {
    std::size_t begin, end;
    bool match;
  };
  std::vector<Part> parts;
  std::size_t done = 0;
  const auto add = [&](std::size_t end, bool match) {
    if (end > done) parts.push_back({done, end, match != step.invert});
    done = end;
  };
  for (const Range& range : step.pattern[0].matches(word)) {
    add(range.begin, false);
    add(range.end, true);
  }
  add(word.size(), false);

  // Neighbouring parts are joined as the step says: each part either begins a word or continues the
  // word of the last part.
  std::vector<Part> joined;
  const auto begins = [&](std::size_t i) {
    if (i == 0) return true;
    switch (step.cut) {
      case Cut::contiguous: return parts[i].match != parts[i - 1].match;
      case Cut::merged_with_previous: return !parts[i].match || parts[i - 1].match;
      case Cut::merged_with_next: return !parts[i - 1].match || parts[i].match;
      default: return true;
    }
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (step.cut == Cut::removed && parts[i].match) continue;
    if (begins(i) || joined.empty())
      joined.push_back(parts[i]);
    else
      joined.back().end = parts[i].end;
  }
  for (const Part& part : joined) words.push_back(word.substr(part.begin, part.end - part.begin));
}

}  // namespace draftlab
