#include "core/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

namespace draftlab {
namespace {

// The optimal string alignment distance: insertions, deletions, substitutions and swaps of
// neighbours cost one each.
int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> before_last, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

// Returns the file and the line that a sentence such as "a.ini:7: ..." is about; line 0 when it
// names none.
std::pair<std::string, long> place_of(const std::string& sentence) {
  const std::size_t end = sentence.find(": ");
  const std::size_t colon = sentence.rfind(':', end == std::string::npos ? end : end - 1);
  if (end == std::string::npos || colon == std::string::npos || colon + 1 >= end) return {};
  const std::string digits = sentence.substr(colon + 1, end - colon - 1);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return {};
  return {sentence.substr(0, colon), std::atol(digits.c_str())};
}

}  // namespace

std::string filled_in(fmt::string_view form, fmt::format_args values) {
  return fmt::vformat(form, values);
}

void Diagnostics::raise() const {
  if (empty()) return;
  // The order of a sentence: that of its file (or of itself, where it names none), then its line.
  std::vector<std::tuple<std::size_t, long, std::size_t>> order;
  std::map<std::string, std::size_t> files;
  for (std::size_t i = 0; i < sentences_.size(); ++i) {
    const auto [file, line] = place_of(sentences_[i]);
    order.emplace_back(line > 0 ? files.emplace(file, i).first->second : i, line, i);
  }
  std::sort(order.begin(), order.end());
  std::string text;
  for (const auto& [file, line, i] : order) text += (text.empty() ? "" : "\n") + sentences_[i];
  throw ConfigError(text);
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 100;  // A longer word is no slip of the finger.
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string best;
  // A candidate at this distance or farther is no suggestion.
  int smallest = word.size() <= 3 ? 2 : static_cast<int>(word.size()) / 3 + 2;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    if (distance >= smallest) continue;
    smallest = distance;
    best = candidate;
  }
  if (!best.empty()) return best;
  for (const std::string& candidate : candidates) {
    if (word.size() >= 3 && candidate.compare(0, word.size(), word) == 0)
      return candidate;  // The word is an abbreviation.
  }
  return {};
}

}  // namespace draftlab
