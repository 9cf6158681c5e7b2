// A distribution of given weights.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/prob/distribution.h"

namespace draftlab::testing {

// Weight i is that of the token i; their sum need not be 1.
inline Distribution of(std::initializer_list<double> weights) {
  Eigen::ArrayXd array(static_cast<Eigen::Index>(weights.size()));
  std::copy(weights.begin(), weights.end(), array.begin());
  return Distribution(std::move(array));
}

}  // namespace draftlab::testing
