// Verifiers with a rule of their own generalise the ratio test of speculative sampling, and ask no
// acceptance rule.
#pragma once

#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/parts/acceptance.h"

namespace draftlab {

// Throws ConfigError unless `acceptance` is the ratio test as it stands, so that no other rule is
// named in vain. What tells it from others is how it judges a token of probability .3 that was
// drawn with probability .5, and what replaces that token.
inline void require_ratio_test(const Acceptance& acceptance, const std::string& verifier) {
  const Distribution target(Eigen::Array3d(.5, .3, .2)), drawn_from(Eigen::Array3d(.2, .5, .3));
  const Trial trial{1, target, &drawn_from, 0, target};
  const Distribution replacement = acceptance.replacement(trial);
  if (std::abs(acceptance.probability(trial) - .6) < 1e-9 && !replacement.empty() &&
      replacement.probability(0) > 1 - 1e-9)
    return;
  throw ConfigError("verifier = " + verifier +
                    " judges by a rule of its own, so the acceptance rule must be the exact ratio "
                    "test (acceptance = speculative, gamma = 1, epsilon = 0, resample = true)");
}

}  // namespace draftlab
