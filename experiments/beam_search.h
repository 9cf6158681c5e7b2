// Beam search: the most probable answers that a causal model gives, found several at a time.
#pragma once

#include <vector>

#include "core/parts/model.h"
#include "core/parts/task.h"

namespace draftlab {

struct BeamOptions {
  int width = 4;
  double length_penalty =
      0.6;  // alpha of Wu et al. (2016): scores are divided by ((5 + tokens) / 6)^alpha
};

// The answer to a prompt that a canvas begins with, left to right, its end token included where it
// has one; no longer than the canvas. Hypotheses are sequences of their own, so each keeps its
// cache. Scores are log probabilities at temperature 1.
std::vector<Token> beam_search(Model& model, const Prompt& prompt, const BeamOptions& options);

}  // namespace draftlab
