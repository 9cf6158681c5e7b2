// Measures how near a set of decoded images is to images that a model never saw: what tasks record
// of each image, and what is computed from the sums.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

// The names of the scores under which tasks record the parts. Features and class probabilities are
// numbered from 0: features are those of a classifier, in the units in which held-out images have
// zero mean and unit covariance. The distances are the mean Euclidean distance of an image's values
// to those of held-out images, and the mean distance among these. The last name is that of the
// class that was given.
inline constexpr std::string_view kImageFeature = "image_feature_", kImageClass = "image_class_";
inline constexpr std::string_view kImageDistance = "image_distance",
                                  kHeldOutDistance = "image_held_out_distance",
                                  kImageLabel = "image_label";
bool is_image_part(std::string_view score);

// The next two return the addends of one image, from whose sums the statistics below are computed.
// The addends are 1, the features, and the products of features in pairs.
std::vector<double> frechet_addends(std::span<const double> features);
// The addends are the sum of p log p, and the probabilities.
std::vector<double> class_score_addends(std::span<const double> probabilities);

// The Frechet distance of the Gaussians that have the first two moments of the features and of a
// held-out image's features (Heusel et al., 2017): |m|^2 + tr(C + I - 2 C^(1/2)). It is biased as
// it stands: n images of the held-out kind themselves have about (d + d (d + 1) / 4) / n. It is NaN
// for fewer images than features.
double frechet_distance(std::span<const double> sums);
// The Inception score (Salimans et al., 2016) of one split: exp of the mean divergence of an
// image's class probabilities from their mean. It is at most the number of classes.
double class_score(std::span<const double> sums);

// The mean Euclidean distance of each column to all others. It takes a second or two for 10,000
// columns of 256 numbers, and is NaN where there is no other column.
Eigen::VectorXd mean_distances(const Eigen::MatrixXd& columns);

}  // namespace draftlab
