// How much of a text is what the file's first arm wrote.
#include <cmath>
#include <map>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

// What is committed by position: the id, and for a vector the first coordinate.
using Tokens = std::map<double, std::pair<double, double>>;

// An edit replaces what stood there.
Tokens tokens_of(const Frame::Block& block, std::size_t sample) {
  Tokens tokens;
  for (auto row = block.row_begin[block.step_begin[sample]];
       row < block.row_begin[block.step_begin[sample + 1]]; ++row) {
    const bool is_vector = block.rows.size() > 2 && !std::isnan(block.rows[2][row]);
    tokens[block.rows[0][row]] = {block.rows[1][row], is_vector ? block.rows[2][row] : 0};
  }
  return tokens;
}

// Compares each sample with the first arm's sample of the same prompt and repeat, which precedes
// the others in its file.
Measured likeness(const Samples& samples, bool whole) {
  const Frame& frame = samples.frame();
  const std::vector<double> unknown(samples.size(), kNotMeasured);
  Measured measured{{unknown, unknown}};
  Tokens first;
  const Frame::Sample* first_sample = nullptr;
  std::vector<std::string> columns = {"token_position", "token_id"};
  if (frame.has_vectors()) columns.push_back("token_value_0");
  frame.walk({}, Table::token, columns, [&](const Frame::Block& block) {
    if (!frame.says(block.file, "token_id")) return;
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const Frame::Sample& sample = frame.samples()[block.samples[i]];
      const Tokens tokens = tokens_of(block, i);
      if (sample.arm == frame.files()[sample.file].arms.front()) {
        first = tokens;
        first_sample = &sample;
      } else if (!first_sample || first_sample->file != sample.file ||
                 first_sample->prompt != sample.prompt ||
                 first_sample->sample_index != sample.sample_index) {
        continue;
      }
      double same = 0;
      for (const auto& [position, token] : first) {
        const auto found = tokens.find(position);
        same += found != tokens.end() && found->second == token;
      }
      measured.columns[0][block.samples[i]] = whole ? static_cast<double>(tokens == first) : same;
      measured.columns[1][block.samples[i]] = whole ? 1 : static_cast<double>(first.size());
    }
  });
  return measured;
}

class SameText final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "same_text",
             .title = "same text",
             .unit = "1",
             .doc = "share of the texts whose every committed token is that of the file's first "
                    "arm (a sweep's baseline)",
             .compare = Metric::Compare::difference,
             .better = 0,
             .digits = 3,
             .share = true,
             .measure = [](const Samples& s) { return likeness(s, true); }},
            {.name = "same_tokens",
             .title = "same tokens",
             .unit = "1",
             .doc = "share of the first arm's tokens that stand at the same positions",
             .compare = Metric::Compare::difference,
             .better = 0,
             .digits = 3,
             .share = true,
             .measure = [](const Samples& s) { return likeness(s, false); }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(same_text) {
  metrics.add<draftlab::SameText>("same_text", "likeness to the first arm");
}
