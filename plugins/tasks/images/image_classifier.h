// What tells classes of images apart, and what their statistics are taken of: a network of three
// layers that the project trains (plugins/trainers/train_image_classifier.cc), in the place that
// Inception's has for photographs.
#pragma once

#include <Eigen/Core>
#include <string>

namespace draftlab {

struct ImageClassifier {
  // hidden = relu(hidden_weight x + hidden_bias); narrow = tanh(narrow_weight hidden +
  // narrow_bias); classes: softmax of the third. x: the values of an image's tokens, one token
  // after another.
  Eigen::MatrixXd hidden_weight, narrow_weight, class_weight;  // [outputs, inputs]
  Eigen::VectorXd hidden_bias, narrow_bias, class_bias;
  // Features are narrow values as held-out images have them with zero mean and unit covariance:
  // feature_weight (narrow - feature_mean).
  Eigen::MatrixXd feature_weight;
  Eigen::VectorXd feature_mean;

  // From a folder that `save` wrote, one .npy a member. DataError when a file is missing, or shapes
  // do not fit each other.
  static ImageClassifier open(const std::string& folder);
  void save(const std::string& folder) const;

  Eigen::Index inputs() const { return hidden_weight.cols(); }
  Eigen::Index classes() const { return class_weight.rows(); }
  struct Reading {
    Eigen::VectorXd features, probabilities;
  };
  Reading read(const Eigen::VectorXd& x) const;
  Eigen::VectorXd narrow(const Eigen::VectorXd& x) const;
};

}  // namespace draftlab
