#include "core/parts/acceptance.h"

#include "core/base/error.h"

namespace draftlab {

double Acceptance::probability(double, double) const {
  throw Fault("an acceptance rule that judges no densities was asked to");
}

double Acceptance::replaces(double, double) const {
  throw Fault("an acceptance rule that judges no densities was asked to");
}

}  // namespace draftlab
