#include "core/loop/load_models.h"

#include <chrono>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/progress.h"

namespace draftlab {

std::shared_ptr<Model> load(const Bound<Model>& bound, const Machine& machine, Loaded& loaded) {
  std::string key = bound.name + "\n" + machine.device + "\n" + machine.dtype;
  for (const auto& [option, value] : bound.values) key += "\n" + option + "=" + value;
  std::shared_ptr<Model>& model = loaded[key];
  if (!model) {
    const auto began = std::chrono::steady_clock::now();
    std::shared_ptr<Model> fresh = bound.make();
    fresh->load(machine);
    model = std::move(fresh);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const std::string checkpoint = model->facts().checkpoint;
    log(LogLevel::info, "loaded model " + bound.name +
                            (checkpoint.empty() ? "" : " from " + checkpoint) + " in " +
                            duration(took.count()));
  }
  if (machine.fixed_shape && !model->rows_are_independent())
    throw ConfigError("run.fixed_shape = true, but answers of model '" + bound.name +
                      "' may depend on what shares their forward");
  return model;
}

Models load_models(const Arm& arm, const Machine& machine, Loaded& loaded) {
  Models models;
  for (const char* name : {"", "draft"}) {
    const auto bound = arm.models.find(name);
    if (bound != arm.models.end()) models.models.push_back(load(bound->second, machine, loaded));
  }
  for (const auto& model : models.models) {
    if (model->facts().vocabulary == models.target().facts().vocabulary) continue;
    throw ConfigError("model.draft has a vocabulary of " +
                      std::to_string(model->facts().vocabulary) + " tokens and the target of " +
                      std::to_string(models.target().facts().vocabulary) + "; they must be equal");
  }
  for (const auto& model : models.models) {
    const ModelFacts facts = model->facts(), target = models.target().facts();
    if (facts.dimension == target.dimension && facts.reverse_steps == target.reverse_steps)
      continue;
    throw ConfigError("model.draft draws vectors of " + std::to_string(facts.dimension) +
                      " coordinates in " + std::to_string(facts.reverse_steps) +
                      " reverse steps and the target of " + std::to_string(target.dimension) +
                      " in " + std::to_string(target.reverse_steps) + "; they must be equal");
  }
  return models;
}

}  // namespace draftlab
