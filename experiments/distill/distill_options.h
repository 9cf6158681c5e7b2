// The config section `distill`: how a teacher's answers are searched.
#pragma once

#include <cstdint>

#include "core/config/options.h"

namespace draftlab {

struct DistillOptions {
  std::int64_t beams = 4;
  double length_penalty = 0.6;
  void declare(OptionSet& set) {
    set.add("beams", &beams).in(1, 1024).help("Hypotheses that draftlab distill keeps alive.");
    set.add("length_penalty", &length_penalty)
        .in(0, 10)
        .help("alpha: scores are log probabilities over ((5 + tokens) / 6)^alpha; 0 leaves them.");
  }
};

}  // namespace draftlab
