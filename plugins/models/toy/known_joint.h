// A model of vector tokens that knows the joint law of what it generates: an oracle for
// certificates.
#pragma once

#include <Eigen/Core>

#include "core/prob/types.h"

namespace draftlab {

struct JointMoments {
  Eigen::VectorXd mean;  // of all generated tokens in the order of commitment, laid end to end
  Eigen::MatrixXd covariance;
};

class KnownJoint {
 public:
  virtual ~KnownJoint() = default;
  // Of so many tokens, each generated given those before it, of a class, at a temperature.
  virtual JointMoments joint(Token of_class, int tokens, double temperature) const = 0;
};

}  // namespace draftlab
