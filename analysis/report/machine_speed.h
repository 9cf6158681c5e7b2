// A machine of which two speeds are known, and what a forward would take there: reading the weights
// and multiplying overlap, and the longer of the two is the time.
#pragma once

#include <string>

namespace draftlab {

// The weights that a forward reads: how many, and the bytes of one.
struct ModelWeights {
  double parameters = 0, bytes = 0;
};

// The bytes of a weight of a run's dtype.
double bytes_of_weight(const std::string& dtype);

// Bytes a second from memory, and operations a second; zeros where no machine is meant.
struct MachineSpeed {
  double bandwidth = 0, flops = 0;

  bool known() const { return bandwidth > 0 && flops > 0; }
  // Seconds of one forward of so many positions, with two operations a parameter and position.
  double forward(double positions, const ModelWeights& weights) const;
};

}  // namespace draftlab
