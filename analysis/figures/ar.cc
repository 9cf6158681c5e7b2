// The course of a decode, over normalised steps: how far it goes from left to right, how sure the
// drafter is, how much a step commits.
#include <cmath>
#include <set>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kParts = 20;  // The parts of a decode that are told apart.

// Returns the tokens of a block's sample, as far as the figure reads them.
SampleRow tokens_of(const Frame::Block& block, std::size_t sample) {
  SampleRow row;
  for (std::int64_t s = block.step_begin[sample]; s < block.step_begin[sample + 1]; ++s) {
    StepRow step;
    step.committed = static_cast<std::int32_t>(block.steps[0][s]);
    for (std::int64_t t = block.row_begin[s]; t < block.row_begin[s + 1]; ++t) {
      TokenRow token;
      token.position = static_cast<std::int32_t>(block.rows[0][t]);
      token.source = static_cast<std::int32_t>(block.rows[1][t]);
      token.confidence = block.rows[2][t];
      step.tokens.push_back(token);
    }
    row.steps.push_back(std::move(step));
  }
  return row;
}

}  // namespace

Picture ar_figure(const PlotData& data) {
  const std::size_t n = data.series();
  Bins local(n, kParts), local_s2d2(n, kParts), global(n, kParts), confidence(n, kParts),
      tokens(n, kParts);
  each_shown(
      data,
      {{"step_committed"}, Table::token, {"token_position", "token_source", "token_confidence"}},
      [&](const ShownSample& shown) {
        const auto add = [&](Bins& bins, std::size_t part, double value) {
          bins.add({shown.series, part, shown.prompt}, value);
        };
        const SampleRow sample = read_as(tokens_of(shown.block, shown.place), data.request.order);
        const std::vector<int> chains = ends_chains(generated_order(sample), kArWindow);
        std::size_t t = 0;
        std::set<std::int32_t> seen;  // A position that was taken back counts once.
        for (std::size_t s = 0; s < sample.steps.size(); ++s) {
          const auto part = static_cast<std::size_t>(
              (static_cast<double>(s) + 0.5) / static_cast<double>(sample.steps.size()) * kParts);
          add(tokens, part, sample.steps[s].committed);
          for (const TokenRow& token : sample.steps[s].tokens) {
            if (!token.commits() || !seen.insert(token.position).second) continue;
            add(local, part, token.ar_local);
            add(global, part, token.ar_global);
            if (t < chains.size() && chains[t] >= 0) add(local_s2d2, part, chains[t]);
            ++t;
            if (!std::isnan(token.confidence)) add(confidence, part, token.confidence);
          }
        }
      });
  if (tokens.empty()) throw DataError("the figure 'ar' needs steps, and the traces hold none");
  std::vector<double> middle;
  for (std::size_t part = 0; part < kParts; ++part)
    middle.push_back((static_cast<double>(part) + 0.5) / kParts);
  const std::string x = AxisRange().commands('x', true, 5),
                    share = x + AxisRange().commands('y', true, 5),
                    open = x + "unset logscale y\nset yrange [0:*]\nset ytics auto\n";
  const std::string along = "share of the steps done";
  return curve_figure(
      data, {.name = "ar",
             .panels = {{&local, "ar_local.dat", "AR-ness, local, DiffuCoder (k = 2)", along,
                         "share of tokens", share},
                        {&local_s2d2, "ar_local_s2d2.dat", "AR-ness, local, S2D2 (k = 2)", along,
                         "share of tokens", share},
                        {&global, "ar_global.dat", "AR-ness, global (k = 2)", along,
                         "share of tokens", share},
                        {&confidence, "ar_confidence.dat", "confidence of committed tokens", along,
                         "drafter's probability", share},
                        {&tokens, "ar_tokens.dat", "tokens a step", along, "tokens", open}},
             .x = middle,
             .note = "Steps of each decode in 20 equal parts. AR-ness over ranks of the generated "
                     "positions, the "
                     "tokens of one step " +
                     std::string(data.request.order.ties == Ties::position ? "by position. "
                                                                           : "as committed. ")});
}

}  // namespace draftlab
