// Does the estimator know how many drafts will be accepted, and does confidence mean what it says?
#include <algorithm>
#include <cmath>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kParts = 10;

// Means of x and of y in bins of x: "x-mean y low high".
struct Curve {
  Bins x, y;
  explicit Curve(std::size_t series) : x(series, kParts), y(series, kParts) {}
  void add(std::size_t series, double at, double most, int prompt, double value) {
    const auto bin = std::min(kParts - 1, static_cast<std::size_t>(at / most * kParts));
    x.add(series, bin, prompt, at);
    y.add(series, bin, prompt, value);
  }
  std::string table(const std::vector<std::string>& names) const {
    std::string text;
    for (std::size_t series = 0; series < names.size(); ++series) {
      text += (series ? "\n\n" : "") + std::string("# ") + names[series] + "\n# mean x, mean y, low high\n";
      for (std::size_t bin = 0; bin < kParts; ++bin) {
        if (!x.empty(series, bin)) text += number_text(x.at(series, bin).value) + " " + estimate_text(bounded(y.at(series, bin))) + "\n";
      }
      if (x.empty(series)) text += "NaN NaN NaN NaN\n";
    }
    return text;
  }
};

}  // namespace

Picture calibration_figure(const PlotData& data) {
  double most = 0;
  data.frame.walk({"step_expected", "step_verified"}, [&](const Frame::Block& block) {
    for (std::size_t s = 0; s < block.steps[0].size(); ++s) if (block.steps[1][s] != 0 && block.steps[0][s] > most) most = block.steps[0][s];
  });
  Curve prefix(data.names.size()), drafts(data.names.size());
  data.frame.walk({"step_expected", "step_verified", "step_accepted", "step_exact"}, Table::draft, {"draft_depth", "draft_accepted", "draft_confidence"},
                  [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const int series = data.series_of(block.samples[i]);
      if (series < 0) continue;
      const int prompt = data.frame.samples()[static_cast<std::size_t>(block.samples[i])].prompt;
      for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
        if (block.steps[1][s] == 0) continue;
        if (const double expected = block.steps[0][s]; most > 0 && expected >= 0) prefix.add(series, expected, most, prompt, block.steps[2][s]);
        for (std::int64_t d = block.row_begin[s]; d < block.row_begin[s + 1]; ++d) {
          const bool judged = block.rows[1][d] >= 0 && block.rows[0][d] >= block.steps[3][s];  // a structural acceptance tests nothing
          if (const double c = block.rows[2][d]; judged && c >= 0) drafts.add(series, c, 1, prompt, block.rows[1][d]);
        }
      }
    }
  });
  const bool estimated = !prefix.x.empty(), judged = !drafts.x.empty();
  if (!estimated && !judged) {
    throw DataError("the figure 'calibration' needs an estimator's expectation (step_expected) or judged drafts with a confidence, and the traces hold neither");
  }
  Sheet sheet("calibration", {.columns = estimated && judged ? 2 : 1, .rows = 1, .panel_width = 430, .panel_height = 360});
  sheet.legend(marked_empty(data.names, judged ? drafts.x : prefix.x));
  const auto panel = [&](const Curve& curve, const std::string& file, const std::string& title, const std::string& x, const std::string& y, double end) {
    sheet.data(file, curve.table(data.names));
    const std::string range = "[0:" + number_text(end) + "]\n";
    std::string commands = "set xrange " + range + "set yrange " + range + "plot x with lines lc rgb '#888888' dt 2";
    for (std::size_t series = 0; series < data.names.size(); ++series) {
      if (curve.x.empty(series)) continue;
      const std::string block = ", \\\n  " + quoted(file) + " index " + std::to_string(series);
      commands += block + " using 1:2 with lines lc rgb '" + colour(series) + "' lw 1.2" + block + " using 1:2:3:4 with yerrorbars " + line_style(series) + " ps 0.9";
    }
    sheet.panel(title, x, y, commands);
  };
  if (estimated) panel(prefix, "calibration_prefix.dat", "expected and true prefix", "accepted prefix that the estimator expected", "accepted prefix", 1.05 * most);
  if (judged) panel(drafts, "calibration_drafts.dat", "confidence and acceptance", "the drafter's confidence in its token", "share accepted", 1.03);
  return sheet.picture("Means in " + std::to_string(kParts) + " equal bins; on the dashed line, expectation and outcome agree. Verified steps; drafts that are the target's own draws left out. " +
                       std::string(estimated ? "" : "No estimator was recorded, so there is no expected prefix. ") +
                       sampling_note(data, std::max(prefix.x.prompts(), drafts.x.prompts()), "bars: 95 % intervals from resampled prompts"));
}

}  // namespace draftlab
