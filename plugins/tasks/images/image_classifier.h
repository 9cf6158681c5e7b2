// The network that tells classes of images apart, and from whose features statistics are computed.
// It has three layers, is trained by this project (plugins/trainers/image_classifier.cc), and takes
// the place that Inception's network has for photographs.
#pragma once

#include <Eigen/Core>
#include <string>

namespace draftlab {

struct ImageClassifier {
  // hidden = relu(hidden_weight x + hidden_bias); narrow = tanh(narrow_weight hidden +
  // narrow_bias); the classes are the softmax of the third layer. x holds the values of an image's
  // tokens, one token after another.
  // The shapes are [outputs, inputs].
  Eigen::MatrixXd hidden_weight, narrow_weight, class_weight;
  Eigen::VectorXd hidden_bias, narrow_bias, class_bias;
  // Features are narrow values, mapped so that held-out images have zero mean and unit covariance:
  // feature_weight (narrow - feature_mean).
  Eigen::MatrixXd feature_weight;
  Eigen::VectorXd feature_mean;

  // Reads a folder that `save` wrote, with one .npy a member. Throws DataError when a file is
  // missing, or when shapes do not fit each other.
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
