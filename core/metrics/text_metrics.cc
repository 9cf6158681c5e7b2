#include "core/metrics/text_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

// Returns F1 of `common` matches against the two totals.
double f1(double common, double reference, double candidate) {
  return common > 0 ? 2 * common / (reference + candidate) : 0;
}

std::map<Words, int> ngrams(const Words& words, std::size_t n) {
  std::map<Words, int> counts;
  for (std::size_t i = 0; i + n <= words.size(); ++i)
    ++counts[Words(words.begin() + static_cast<std::ptrdiff_t>(i),
                   words.begin() + static_cast<std::ptrdiff_t>(i + n))];
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
    if (const auto found = wanted.find(gram); found != wanted.end())
      common += std::min(count, found->second);
  }
  return f1(common, in_reference, in_candidate);
}

double rouge_l(const std::string& reference, const std::string& candidate) {
  const Words a = rouge_words(reference), b = rouge_words(candidate);
  // For each prefix of `b`: the longest common subsequence with the words of `a` so far.
  std::vector<int> longest(b.size() + 1, 0);
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

std::vector<std::string> bleu_words(const std::string& text) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  std::string spaced;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    bool apart =
        std::string_view("!\"#$%&()*+/:;<=>?@[\\]^_`{|}~").find(c) != std::string_view::npos;
    if (c == '.' || c == ',') apart = !(i > 0 && digit(i - 1) && digit(i + 1));
    if (c == '-') apart = i > 0 && digit(i - 1);
    spaced += apart ? std::string{' ', c, ' '} : std::string{c};
  }
  Words words;
  std::istringstream stream(spaced);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

BleuSums bleu_sums(const std::string& reference, const std::string& candidate) {
  const Words wanted = bleu_words(reference), given = bleu_words(candidate);
  BleuSums sums{};
  sums[2 * kBleuOrder] = static_cast<double>(given.size());
  sums[2 * kBleuOrder + 1] = static_cast<double>(wanted.size());
  for (std::size_t n = 1; n <= kBleuOrder; ++n) {
    const std::map<Words, int> known = ngrams(wanted, n);
    for (const auto& [gram, count] : ngrams(given, n)) {
      sums[kBleuOrder + n - 1] += count;
      if (const auto found = known.find(gram); found != known.end())
        sums[n - 1] += std::min(count, found->second);
    }
  }
  return sums;
}

double bleu(std::span<const double> sums) {
  const double words = sums[2 * kBleuOrder], reference_words = sums[2 * kBleuOrder + 1];
  if (words == 0 && reference_words == 0) return std::numeric_limits<double>::quiet_NaN();
  double logs = 0;
  for (int n = 0; n < kBleuOrder; ++n) {
    if (sums[n] == 0) return 0;
    logs += std::log(sums[n] / sums[kBleuOrder + n]) / kBleuOrder;
  }
  return 100 * std::exp(logs + std::min(0.0, 1 - reference_words / words));
}

bool exact_match(const std::string& reference, const std::string& candidate) {
  return single_spaced(reference) == single_spaced(candidate);
}

}  // namespace draftlab
