// Loads the models that an arm decodes with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/author.h"
#include "core/loop/arm.h"

namespace draftlab {

// The models that are loaded already, by plugin name, device, precision and resolved options. Arms
// of one run share weights.
using Loaded = std::map<std::string, std::shared_ptr<Model>>;

// Returns the loaded model that `made` makes, and loads it when `loaded` does not hold it yet.
std::shared_ptr<Model> load(const Factory<Model>& made, const Machine& machine, Loaded& loaded);

// The models that decode: index 0 is the target, and 1 the draft model where one is named.
struct Models {
  std::vector<std::shared_ptr<Model>> models;
  // Their names in a sentence, and what they said of themselves when they were loaded.
  std::vector<Author> authors;
  std::vector<ModelFacts> facts;
  Model& target() const { return *models[0]; }
};
Models load_models(const Arm& arm, const Machine& machine, Loaded& loaded);

}  // namespace draftlab
