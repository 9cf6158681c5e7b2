// The interface of a model of vector tokens that knows the joint law of what it generates. It
// serves as an oracle for certificates.
#pragma once

#include <Eigen/Core>

#include "core/prob/types.h"

namespace draftlab {

struct JointMoments {
  // The mean of all generated tokens in the order of commitment, laid end to end.
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

class KnownJoint {
 public:
  virtual ~KnownJoint() = default;
  // Returns the moments of `tokens` tokens of a class at a temperature, each generated given those
  // before it.
  virtual JointMoments joint(Token of_class, int tokens, double temperature) const = 0;
};

}  // namespace draftlab
