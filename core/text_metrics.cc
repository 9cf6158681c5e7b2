#include "core/text_metrics.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

namespace draftlab {
namespace {

using Words = std::vector<std::string>;

Words rouge_words(const std::string& text) {
  Words words;
  bool open = false;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool inside = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (inside && !open) words.emplace_back();
    if (inside) words.back() += c;
    open = inside;
  }
  return words;
}

// F1 of `common` matches against the two totals.
double f1(double common, double reference, double candidate) { return common > 0 ? 2 * common / (reference + candidate) : 0; }

std::map<Words, int> ngrams(const Words& words, std::size_t n) {
  std::map<Words, int> counts;
  for (std::size_t i = 0; i + n <= words.size(); ++i) ++counts[Words(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i + n))];
  return counts;
}

std::string single_spaced(const std::string& text) {
  std::istringstream stream(text);
  std::string out;
  for (std::string word; stream >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

double rouge_n(const std::string& reference, const std::string& candidate, int n) {
  const std::map<Words, int> wanted = ngrams(rouge_words(reference), static_cast<std::size_t>(n));
  int common = 0, in_reference = 0, in_candidate = 0;
  for (const auto& [gram, count] : wanted) in_reference += count;
  for (const auto& [gram, count] : ngrams(rouge_words(candidate), static_cast<std::size_t>(n))) {
    in_candidate += count;
    if (const auto found = wanted.find(gram); found != wanted.end()) common += std::min(count, found->second);
  }
  return f1(common, in_reference, in_candidate);
}

double rouge_l(const std::string& reference, const std::string& candidate) {
  const Words a = rouge_words(reference), b = rouge_words(candidate);
  std::vector<int> longest(b.size() + 1, 0);  // of the words of `a` so far and each prefix of `b`
  for (const std::string& word : a) {
    int diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int above = longest[j + 1];
      longest[j + 1] = word == b[j] ? diagonal + 1 : std::max(above, longest[j]);
      diagonal = above;
    }
  }
  return f1(longest.back(), static_cast<double>(a.size()), static_cast<double>(b.size()));
}

bool exact_match(const std::string& reference, const std::string& candidate) { return single_spaced(reference) == single_spaced(candidate); }

}  // namespace draftlab
