// The quantities of sets of images: what each image adds to the sums that the set's statistics are
// computed from.
#include <algorithm>
#include <cmath>

#include "analysis/quantity.h"
#include "core/metrics/image_metrics.h"
#include "core/trace/hdf5_columns.h"

namespace draftlab {

std::vector<std::string> Quantities::image_parts(std::string_view prefix) const {
  const std::vector<std::string> scores = frame_.scores();
  std::vector<std::string> parts;
  for (std::string part = std::string(prefix) + "0";
       std::count(scores.begin(), scores.end(), part) > 0;
       part = std::string(prefix) + std::to_string(parts.size())) {
    parts.push_back(part);
  }
  return parts;
}

Measured Quantities::set_addends(std::string_view prefix,
                                 std::vector<double> (*addends)(std::span<const double>)) const {
  std::vector<const std::vector<double>*> parts;
  for (const std::string& part : image_parts(prefix))
    parts.push_back(&column(std::string(named_prefix(Table::sample)) + part));
  Measured measured;
  std::vector<double> values(parts.size());
  for (std::size_t i = 0; i < frame_.samples().size(); ++i) {
    for (std::size_t k = 0; k < parts.size(); ++k) values[k] = (*parts[k])[i];
    const std::vector<double> of_sample = addends(values);
    measured.columns.resize(of_sample.size());
    const bool known =
        std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
    for (std::size_t k = 0; k < of_sample.size(); ++k)
      measured.columns[k].push_back(known ? of_sample[k] : kNotMeasured);
  }
  return measured;
}

// Each image fills the addends of its own split; the images of an arm are divided in their order.
Measured Quantities::split_addends() const {
  const Measured whole = set_addends(kImageClass, class_score_addends);
  const std::size_t parts = whole.columns.size(), samples = frame_.samples().size();
  Measured split;
  split.columns.assign(kSplits * parts, std::vector<double>(samples, 0));
  for (std::size_t arm = 0; arm < frame_.arms().size(); ++arm) {
    std::vector<std::size_t> images;
    for (std::size_t i = 0; i < samples; ++i) {
      const Frame::Sample& sample = frame_.samples()[i];
      if (sample.arm == static_cast<int>(arm) && sample.counts && whole.has(i)) images.push_back(i);
    }
    for (std::size_t part = 0; part < kSplits; ++part)
      for (std::size_t k = part * images.size() / kSplits; k < (part + 1) * images.size() / kSplits;
           ++k)
        for (std::size_t c = 0; c < parts; ++c)
          split.columns[part * parts + c][images[k]] = whole.columns[c][images[k]];
  }
  for (std::size_t i = 0; i < samples; ++i)
    if (!whole.has(i))
      for (std::vector<double>& column : split.columns) column[i] = kNotMeasured;
  return split;
}

// For an arm with images x_i, let a_i and b_i be their mean distances to held-out images and to the
// arm's others, and c that among held-out ones. A sample's number is 2 a_i - 2 b_i + mean b - c.
// The mean of these is the energy distance without bias, and they spread as its estimate does to
// first order (Hoeffding's projection), so it is compared like a mean.
Measured Quantities::energy_distances() const {
  const std::string prefix(named_prefix(Table::sample));
  const std::vector<double>&to_held_out = column(prefix + std::string(kImageDistance)),
        &among_held_out = column(prefix + std::string(kHeldOutDistance));
  std::vector<double> values(frame_.samples().size(), kNotMeasured);
  const std::vector<Eigen::VectorXd> images = frame_.vectors();
  for (std::size_t arm = 0; arm < frame_.arms().size(); ++arm) {
    std::vector<std::size_t> of_arm;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Frame::Sample& sample = frame_.samples()[i];
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

}  // namespace draftlab
