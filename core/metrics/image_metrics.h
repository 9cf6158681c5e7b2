// How near a set of decoded images is to images that a model never saw: what tasks record of each
// image, and what is made of the sums.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

// Scores under which tasks record the parts, numbered from 0: features of a classifier, in the
// units in which held-out images have zero mean and unit covariance; its class probabilities; mean
// Euclidean distance of the values to those of held-out images, and the mean among these; the class
// that was given.
inline constexpr std::string_view kImageFeature = "image_feature_", kImageClass = "image_class_";
inline constexpr std::string_view kImageDistance = "image_distance",
                                  kHeldOutDistance = "image_held_out_distance",
                                  kImageLabel = "image_label";
bool is_image_part(std::string_view score);

// Addends of one image, of whose sums the statistics below are made.
std::vector<double> frechet_addends(
    std::span<const double> features);  // 1, features, their products in pairs
std::vector<double> class_score_addends(
    std::span<const double> probabilities);  // sum of p log p, probabilities

// Frechet distance of the Gaussians that have the features' first two moments and a held-out
// image's (Heusel et al., 2017): |m|^2 + tr(C + I - 2 C^(1/2)). As it stands, that is biased: n
// images of the held-out kind themselves have about (d + d (d + 1) / 4) / n. NaN for fewer images
// than features.
double frechet_distance(std::span<const double> sums);
// Inception score (Salimans et al., 2016) of one split: exp of the mean divergence of an image's
// class probabilities from their mean; at most the number of classes.
double class_score(std::span<const double> sums);

// Mean Euclidean distance of each of the columns to all others: a second or two for 10,000 of 256
// numbers. NaN where there is no other.
Eigen::VectorXd mean_distances(const Eigen::MatrixXd& columns);

}  // namespace draftlab
