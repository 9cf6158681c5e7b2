#include "plugins/models/xlnet/arrangement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace draftlab {

namespace {

// Draws a uniformly random index below n.
int below(int n, const Uniforms& uniform) {
  return std::min(n - 1, static_cast<int>(uniform() * n));
}

void shuffle(std::vector<std::int32_t>& items, const Uniforms& uniform) {
  for (int i = static_cast<int>(items.size()) - 1; i > 0; i--)
    std::swap(items[i], items[below(i + 1, uniform)]);
}

// Divides `total` into `parts` positive summands; the cut points are a random subset.
std::vector<int> composition(int total, int parts, const Uniforms& uniform) {
  std::vector<std::int32_t> cuts(total - 1);
  std::iota(cuts.begin(), cuts.end(), 1);
  shuffle(cuts, uniform);
  cuts.resize(parts - 1);
  std::sort(cuts.begin(), cuts.end());
  cuts.push_back(total);
  std::vector<int> summands;
  int last = 0;
  for (int cut : cuts) summands.push_back(cut - std::exchange(last, cut));
  return summands;
}

}  // namespace

std::vector<char> draw_prompt(int length, int prompt, PromptShape shape, const Uniforms& uniform) {
  if (prompt < 1 || prompt >= length) throw Fault("a prompt of {} tokens in {}", prompt, length);
  std::vector<char> given(length, 0);
  if (shape == PromptShape::prefix) {
    std::fill_n(given.begin(), prompt, 1);
  } else if (shape == PromptShape::scattered) {
    std::vector<std::int32_t> others(length - 1);
    std::iota(others.begin(), others.end(), 1);
    shuffle(others, uniform);
    given[0] = 1;
    for (int i = 0; i < prompt - 1; i++) given[others[i]] = 1;
  } else {
    const int spans = 1 + below(std::min({3, prompt, length - prompt}), uniform);
    // One visible part stands before each span, and one after the last that may be empty: hence the
    // extra token that is taken back.
    const std::vector<int> seen = composition(prompt + 1, spans + 1, uniform);
    const std::vector<int> hidden = composition(length - prompt, spans, uniform);
    int at = 0;
    for (int span = 0; span <= spans; span++) {
      const int visible = seen[span] - (span == spans);
      std::fill_n(given.begin() + at, visible, 1);
      at += visible + (span < spans ? hidden[span] : 0);
    }
  }
  return given;
}

Arrangement arrange(const std::vector<char>& given, bool any_permutation, const Uniforms& uniform) {
  std::vector<std::int32_t> order, generated;
  for (std::size_t i = 0; i < given.size(); i++)
    (given[i] ? order : generated).push_back(static_cast<std::int32_t>(i));
  Arrangement arrangement{
      std::vector<std::int32_t>(given.size()), static_cast<std::int32_t>(order.size()), {}};
  if (any_permutation) shuffle(generated, uniform);
  order.insert(order.end(), generated.begin(), generated.end());
  for (std::size_t rank = 0; rank < order.size(); rank++)
    arrangement.rank[order[rank]] = static_cast<std::int32_t>(rank);
  return arrangement;
}

void ask_ahead(Arrangement& arrangement, double share, int most, const Uniforms& uniform) {
  arrangement.ahead.assign(arrangement.rank.size(), 0);
  for (std::size_t i = 0; i < arrangement.rank.size(); i++) {
    if (arrangement.rank[i] >= arrangement.prompt && uniform() < share)
      arrangement.ahead[i] = 1 + below(most, uniform);
  }
}

std::int32_t content_limit(const Arrangement& arrangement, std::int32_t position) {
  const std::int32_t rank = arrangement.rank[position];
  return rank < arrangement.prompt ? arrangement.prompt : rank + 1;
}

std::int32_t query_limit(const Arrangement& arrangement, std::int32_t position) {
  const std::int32_t ahead = arrangement.ahead.empty() ? 0 : arrangement.ahead[position];
  return std::max(arrangement.prompt, arrangement.rank[position] - ahead);
}

double MaskSchedule::rate(double u, std::int64_t step) const {
  const double share =
      warmup > 0 ? std::min(1.0, static_cast<double>(step) / static_cast<double>(warmup)) : 1;
  const double from = start + share * (low - start), to = start + share * (high - start);
  return from + u * (to - from);
}

int prompt_size(double mask_rate, int length) {
  return std::clamp(static_cast<int>(std::floor((1 - mask_rate) * length)) + 1, 1, length - 1);
}

}  // namespace draftlab
