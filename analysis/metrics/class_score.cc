// The Inception-style score of images, and over splits of them.
#include <cmath>
#include <numeric>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"
#include "analysis/metrics/set_addends.h"
#include "core/metrics/image_metrics.h"

namespace draftlab {
namespace {

// Over so many splits of an arm's images a score is averaged.
constexpr std::size_t kSplits = 10;

Measured all_addends(const Samples& samples) {
  return set_addends(samples, kImageClass, class_score_addends);
}

// Each image fills the addends of its own split; the images of an arm are divided in their order.
Measured split_addends(const Samples& samples) {
  const Measured whole = all_addends(samples);
  const std::size_t parts = whole.columns.size();
  Measured split;
  split.columns.assign(kSplits * parts, std::vector<double>(samples.size(), 0));
  for (std::size_t arm = 0; arm < samples.frame().arms().size(); ++arm) {
    std::vector<std::size_t> images;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Frame::Sample& sample = samples.frame().samples()[i];
      if (sample.arm == static_cast<int>(arm) && sample.counts && whole.has(i)) images.push_back(i);
    }
    for (std::size_t part = 0; part < kSplits; ++part)
      for (std::size_t k = part * images.size() / kSplits; k < (part + 1) * images.size() / kSplits;
           ++k)
        for (std::size_t c = 0; c < parts; ++c)
          split.columns[part * parts + c][images[k]] = whole.columns[c][images[k]];
  }
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!whole.has(i))
      for (std::vector<double>& column : split.columns) column[i] = kNotMeasured;
  return split;
}

std::vector<double> scores_of_splits(std::span<const double> sums) {
  std::vector<double> scores;
  const std::size_t parts = sums.size() / kSplits;
  for (std::size_t part = 0; part < kSplits; ++part)
    scores.push_back(class_score(sums.subspan(part * parts, parts)));
  return scores;
}

double mean_of_splits(std::span<const double> sums) {
  const std::vector<double> scores = scores_of_splits(sums);
  return std::accumulate(scores.begin(), scores.end(), 0.0) / kSplits;
}

double deviation_of_splits(std::span<const double> sums) {
  const double mean = mean_of_splits(sums);
  double squares = 0;
  for (const double score : scores_of_splits(sums)) squares += (score - mean) * (score - mean);
  return std::sqrt(squares / kSplits);
}

class ClassScore final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples& samples) const override {
    if (samples.numbered_scores(kImageClass).empty()) return {};
    return {{.name = "class_score",
             .title = "Inception-style score",
             .unit = "1",
             .doc = "exp of the mean divergence of an image's class probabilities from those of "
                    "all images",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 2,
             .margin = "margin_class_score",
             .statistic = class_score,
             .measure = all_addends},
            {.name = "class_score_splits",
             .title = "score, ten splits",
             .unit = "1",
             .doc = "mean of the score over ten splits of an arm's images, as Inception scores are "
                    "printed",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 2,
             .margin = "margin_class_score",
             .statistic = mean_of_splits,
             .measure = split_addends},
            {.name = "class_score_deviation",
             .title = "its deviation",
             .unit = "1",
             .doc = "standard deviation of the score over the ten splits",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 3,
             .statistic = deviation_of_splits,
             .measure = split_addends}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(class_score) {
  metrics.add<draftlab::ClassScore>("class_score", "Inception-style score of images");
}
