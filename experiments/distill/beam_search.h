// Beam search finds the most probable answers of a causal model, several at a time.
#pragma once

#include <vector>

#include "core/model/model.h"
#include "core/parts/task.h"

namespace draftlab {

struct BeamOptions {
  int width = 4;
  // The exponent alpha of Wu et al. (2016): scores are divided by ((5 + tokens) / 6)^alpha.
  double length_penalty = 0.6;
};

// Returns the answer to a prompt that a canvas begins with, left to right, its end token included
// where it has one; it is no longer than the canvas. Hypotheses are sequences of their own, so each
// keeps its cache. Scores are log probabilities at temperature 1.
std::vector<Token> beam_search(Model& model, const Prompt& prompt, const BeamOptions& options);

}  // namespace draftlab
