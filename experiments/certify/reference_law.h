// The witness of a certificate: the law that texts should have, walked from the model's own
// conditional laws alone. No drafter, verifier, acceptance, router, unmasker or step of the loop
// takes part, and neither do the functions that these share: temperature, top-k, top-p, rankings
// and mixtures are written here once more. What it takes for granted is the model, how the canvas
// is cut into blocks and, where tokens are drawn one by one, the frontier's order.
#pragma once

#include <cstdint>

#include "core/config/composition.h"
#include "core/loop/load_models.h"
#include "core/parts/task.h"
#include "experiments/certify/enumeration.h"

namespace draftlab {

struct Reference {
  // The probability of each finished text, as Decoder::text() spells it.
  TextLaw probability;
  // The number of states of the canvas at which the model was asked.
  std::int64_t asked = 0;
};

// Walks the law that the config's [reference] names. Throws ConfigError where the law needs a draft
// model and there is none, or where more than `most` states would be asked about.
Reference reference_law(const Composition& decoder, const Models& models, const Prompt& prompt,
                        std::int64_t most);

}  // namespace draftlab
