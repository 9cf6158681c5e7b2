#include "plugins/tasks/images/image_classifier.h"

#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/npy.h"

namespace draftlab {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Calls visit(name, matrix) for every member; a vector counts as a matrix of one column.
template <class Classifier, class Visit>
void each_member(Classifier& classifier, Visit visit) {
  visit("hidden_weight", classifier.hidden_weight);
  visit("hidden_bias", classifier.hidden_bias);
  visit("narrow_weight", classifier.narrow_weight);
  visit("narrow_bias", classifier.narrow_bias);
  visit("class_weight", classifier.class_weight);
  visit("class_bias", classifier.class_bias);
  visit("feature_weight", classifier.feature_weight);
  visit("feature_mean", classifier.feature_mean);
}

}  // namespace

ImageClassifier ImageClassifier::open(const std::string& folder) {
  ImageClassifier classifier;
  each_member(classifier, [&](const std::string& name, auto& matrix) {
    constexpr bool is_vector = std::decay_t<decltype(matrix)>::ColsAtCompileTime == 1;
    const std::string path = folder + "/" + name + ".npy";
    const NpyArray array = read_npy(path);
    if (array.shape.size() != (is_vector ? 1 : 2))
      throw DataError("'{}' must be a {}", path, is_vector ? "vector" : "matrix");
    matrix = Eigen::Map<const RowMajor>(array.values.data(), array.shape[0],
                                        is_vector ? 1 : array.shape[1])
                 .template cast<double>();
    if (!matrix.allFinite()) throw DataError("'{}' holds a value that is not finite", path);
  });
  const ImageClassifier& c = classifier;
  const bool fits = c.hidden_bias.size() == c.hidden_weight.rows() &&
                    c.narrow_weight.cols() == c.hidden_weight.rows() &&
                    c.narrow_bias.size() == c.narrow_weight.rows() &&
                    c.class_weight.cols() == c.narrow_weight.rows() &&
                    c.class_bias.size() == c.class_weight.rows() &&
                    c.feature_mean.size() == c.narrow_weight.rows() &&
                    c.feature_weight.cols() == c.narrow_weight.rows() && c.classes() > 0;
  if (!fits)
    throw DataError("the arrays of '{}' do not fit each other: they are of no one classifier",
                    folder);
  return classifier;
}

void ImageClassifier::save(const std::string& folder) const {
  make_folder(folder);
  each_member(*this, [&](const std::string& name, const auto& matrix) {
    constexpr bool is_vector = std::decay_t<decltype(matrix)>::ColsAtCompileTime == 1;
    const RowMajor values = matrix.template cast<float>();
    std::vector<std::int64_t> shape{values.rows()};
    if (!is_vector) shape.push_back(values.cols());
    write_npy(folder + "/" + name + ".npy", shape,
              {values.data(), static_cast<std::size_t>(values.size())});
  });
}

Eigen::VectorXd ImageClassifier::narrow(const Eigen::VectorXd& x) const {
  const Eigen::VectorXd hidden = (hidden_weight * x + hidden_bias).cwiseMax(0);
  return (narrow_weight * hidden + narrow_bias).array().tanh();
}

ImageClassifier::Reading ImageClassifier::read(const Eigen::VectorXd& x) const {
  const Eigen::VectorXd values = narrow(x), logits = class_weight * values + class_bias;
  const Eigen::VectorXd odds = (logits.array() - logits.maxCoeff()).exp();
  return {feature_weight * (values - feature_mean), odds / odds.sum()};
}

}  // namespace draftlab
