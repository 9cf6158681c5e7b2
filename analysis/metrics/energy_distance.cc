// The energy distance of images from held-out ones.
#include <algorithm>
#include <cmath>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"
#include "core/metrics/image_metrics.h"

namespace draftlab {
namespace {

// For an arm with images x_i, let a_i and b_i be their mean distances to held-out images and to the
// arm's others, and c that among held-out ones. A sample's number is 2 a_i - 2 b_i + mean b - c.
// The mean of these is the energy distance without bias, and they spread as its estimate does to
// first order (Hoeffding's projection), so it is compared like a mean.
Measured distances_of(const Samples& samples) {
  const Frame& frame = samples.frame();
  const std::vector<double>&to_held_out = samples.score(std::string(kImageDistance)),
        &among_held_out = samples.score(std::string(kHeldOutDistance));
  std::vector<double> values(frame.samples().size(), kNotMeasured);
  const std::vector<Eigen::VectorXd> images = frame.vectors();
  for (std::size_t arm = 0; arm < frame.arms().size(); ++arm) {
    std::vector<std::size_t> of_arm;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Frame::Sample& sample = frame.samples()[i];
      const bool same = of_arm.empty() || images[i].size() == images[of_arm.front()].size();
      if (sample.arm == static_cast<int>(arm) && sample.counts && images[i].size() > 0 && same &&
          !std::isnan(to_held_out[i]))
        of_arm.push_back(i);
    }
    if (of_arm.size() < 2) continue;
    Eigen::MatrixXd columns(images[of_arm.front()].size(),
                            static_cast<Eigen::Index>(of_arm.size()));
    for (std::size_t k = 0; k < of_arm.size(); ++k)
      columns.col(static_cast<Eigen::Index>(k)) = images[of_arm[k]];
    const Eigen::VectorXd to_others = mean_distances(columns);
    const double mean = to_others.mean();
    for (std::size_t k = 0; k < of_arm.size(); ++k) {
      values[of_arm[k]] = 2 * to_held_out[of_arm[k]] - 2 * to_others[static_cast<Eigen::Index>(k)] +
                          mean - among_held_out[of_arm[k]];
    }
  }
  return Measured::mean_of(std::move(values));
}

class EnergyDistance final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples& samples) const override {
    const std::vector<std::string> scores = samples.frame().scores();
    if (std::count(scores.begin(), scores.end(), kImageDistance) == 0) return {};
    return {
        {.name = "energy_distance",
         .title = "energy distance",
         .unit = "1",
         .doc = "of the images of an arm from held-out ones: 2 E|X - Y| - E|X - X'| - E|Y - Y'|",
         .compare = Metric::Compare::difference,
         .better = -1,
         .digits = 4,
         .margin = "margin_energy",
         .measure = distances_of}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(energy_distance) {
  metrics.add<draftlab::EnergyDistance>("energy_distance",
                                        "distance of images from held-out ones, pixel by pixel");
}
