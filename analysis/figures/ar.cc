// The course of a decode, over normalised steps: how far it goes from left to right, how sure the
// drafter is, how much a step commits.
#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kParts = 20;  // of a decode

}  // namespace

Picture ar_figure(const PlotData& data) {
  const std::size_t n = data.series();
  Bins local(n, kParts), global(n, kParts), confidence(n, kParts), tokens(n, kParts);
  data.frame.walk(
      {"step_committed"}, Table::token, {"token_ar_local", "token_ar_global", "token_confidence"},
      [&](const Frame::Block& block) {
        for (std::size_t i = 0; i < block.samples.size(); ++i) {
          const int series = data.series_of(block.samples[i]);
          if (series < 0) continue;
          const int prompt =
              data.frame.samples()[static_cast<std::size_t>(block.samples[i])].prompt;
          const std::int64_t begin = block.step_begin[i], steps = block.step_begin[i + 1] - begin;
          for (std::int64_t s = 0; s < steps; ++s) {
            const auto part = static_cast<std::size_t>((static_cast<double>(s) + 0.5) /
                                                       static_cast<double>(steps) * kParts);
            tokens.add(series, part, prompt, block.steps[0][begin + s]);
            for (std::int64_t t = block.row_begin[begin + s]; t < block.row_begin[begin + s + 1];
                 ++t) {
              local.add(series, part, prompt, block.rows[0][t]);
              global.add(series, part, prompt, block.rows[1][t]);
              if (const double c = block.rows[2][t]; c == c)
                confidence.add(series, part, prompt, c);
            }
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
      data, "ar",
      {{&local, "ar_local.dat", "AR-ness, local (k = 2)", along, "share of tokens", share},
       {&global, "ar_global.dat", "AR-ness, global (k = 2)", along, "share of tokens", share},
       {&confidence, "ar_confidence.dat", "confidence of committed tokens", along,
        "drafter's probability", share},
       {&tokens, "ar_tokens.dat", "tokens a step", along, "tokens", open}},
      middle,
      "Steps of each decode in 20 equal parts. AR-ness: DiffuCoder's reading, over ranks of the "
      "generated positions. ");
}

}  // namespace draftlab
