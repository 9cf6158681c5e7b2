// What the loop needs of a config: the parts of one arm, bound to their options, and the options
// that several parts read. An arm is one way to decode that a run compares with others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/registry.h"
#include "core/trace/trace_options.h"

namespace draftlab {

struct Arm {
  // Models have roles: "" is the target, "draft" and "judge" stand as `model.ROLE = plugin`.
  std::map<std::string, Bound<Model>> models;
  Bound<Frontier> frontier;
  Bound<Drafter> drafter;
  Bound<Verifier> verifier;
  Bound<Acceptance> acceptance;
  Bound<Router> router;
  // Routers read the expectation of this estimator.
  std::optional<Bound<Estimator>> estimator;
  // The expectations of these estimators (`estimator.NAME = plugin`) are recorded and change
  // nothing.
  std::vector<std::pair<std::string, Bound<Estimator>>> attached;
  Bound<Unmasker> unmasker;
  DecodeOptions decode;
  TraceOptions trace;
};

// Whether any step of the arm may ask its verifier.
inline bool verifies(const Arm& arm) {
  return arm.decode.shadow != Shadow::off || arm.router.make()->may_verify();
}

}  // namespace draftlab
