#include "core/prob/accepted_prefix.h"

namespace draftlab {

double expected_accepted(std::span<const double> accept) {
  double survival = 1, expected = 0;
  for (double a : accept) expected += survival *= a;
  return expected;
}

double expected_committed(std::span<const double> accept) {
  double survival = 1, expected = 0;
  for (double a : accept) {
    expected += survival;
    survival *= a;
  }
  return expected;
}

}  // namespace draftlab
