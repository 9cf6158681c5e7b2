// The certificate of one decoder: what was walked, what it was compared with, and which of its
// claims hold. `draftlab certify` prints these.
#pragma once

#include <string>

#include "core/config/composition.h"
#include "experiments/certify/certify_options.h"
#include "experiments/certify/enumeration.h"
#include "experiments/certify/reference_law.h"
#include "experiments/certify/reference_options.h"
#include "experiments/certify/repeated_answers.h"

namespace draftlab {

struct Certificate {
  CertifyOptions claim;
  ReferenceOptions law;
  Outcomes outcomes;
  Reference reference;
  Arithmetic arithmetic;
  // The total variation between the decoder's texts and the reference's, where both see one
  // function for a model.
  double variation = 0;
  // The most tokens that a text has beyond its prompt.
  int unknown = 0;

  // Whether the law is as claimed, the worst case of evaluations, and the first step.
  bool exact() const;
  bool fast() const;
  bool committed() const;
  bool holds() const { return exact() && fast() && committed(); }
};

// Walks the decoder and its reference on the config's first prompt. `name` says in refusals which
// decoder it is. Throws ConfigError where "lossless" is claimed of a law that is not the target's
// own, and where there are more outcomes than certify.most_outcomes.
Certificate certificate_of(const Composition& decoder, const std::string& name);

// The prompt that is certified: number run.first of the task. `name` is that of the config.
Prompt certified_prompt(const Composition& decoder, const std::string& name);

}  // namespace draftlab
