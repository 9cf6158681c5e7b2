// One way to decode, as a value: what makes its parts, and the options that several of them read.
// An arm knows nothing of where it came from: a config makes one (core/config/composition.h), and
// so does a program that uses draftlab as a library (docs/LIBRARY.md).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/loop/recording.h"
#include "core/model/model.h"
#include "core/parts/acceptance.h"
#include "core/parts/decode_options.h"
#include "core/parts/drafter.h"
#include "core/parts/estimator.h"
#include "core/parts/frontier.h"
#include "core/parts/router.h"
#include "core/parts/unmasker.h"
#include "core/parts/verifier.h"

namespace draftlab {

// Makes parts of one kind, all alike: as many as there are sequences.
template <class Interface>
struct Factory {
  // How sentences name the part.
  std::string name;
  // Every option with its value. Factories of one name and equal values make equal parts, so a
  // model is loaded once for both.
  std::vector<std::pair<std::string, std::string>> values;
  std::function<std::unique_ptr<Interface>()> make;
  // The plugin that brought the part, as --plugin named it; empty for draftlab's own parts.
  std::string plugin = {};

  // Returns the value of an option, or "" where the part has no such option.
  std::string value(std::string_view option) const {
    for (const auto& [name, value] : values)
      if (name == option) return value;
    return "";
  }
};

// Returns a factory of parts T, which are made without options.
template <class T, class Interface>
Factory<Interface> factory_of(std::string name) {
  return {std::move(name), {}, [] { return std::make_unique<T>(); }};
}

struct Arm {
  // Models have roles: "" is the target, "draft" the draft model, and "judge" scores texts.
  std::map<std::string, Factory<Model>> models;
  Factory<Frontier> frontier;
  Factory<Drafter> drafter;
  // An arm that never verifies may have neither of these.
  Factory<Verifier> verifier;
  Factory<Acceptance> acceptance;
  Factory<Router> router;
  // Routers read the expectation of this estimator.
  std::optional<Factory<Estimator>> estimator;
  // The expectations of these estimators are recorded under their names and change nothing.
  std::vector<std::pair<std::string, Factory<Estimator>>> attached;
  Factory<Unmasker> unmasker;
  DecodeOptions decode;
  Recording recording;
};

// Whether any step of the arm may ask its verifier.
inline bool verifies(const Arm& arm) {
  return arm.decode.shadow != Shadow::off || arm.router.make()->may_verify();
}

}  // namespace draftlab
