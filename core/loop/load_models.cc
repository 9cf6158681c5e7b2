#include "core/loop/load_models.h"

#include <chrono>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "core/loop/contract.h"
#include "core/loop/end_penalty.h"

namespace draftlab {

std::shared_ptr<Model> load(const Factory<Model>& made, const Machine& machine, Loaded& loaded) {
  std::string key = made.name;
  key.append("\n").append(word(machine.device)).append("\n").append(word(machine.dtype));
  for (const auto& [option, value] : made.values) key += "\n" + option + "=" + value;
  std::shared_ptr<Model>& model = loaded[key];
  if (!model) {
    const auto began = std::chrono::steady_clock::now();
    const Author author{"model", made.name, made.plugin};
    model = in_name_of(author, [&]() -> std::shared_ptr<Model> {
      std::shared_ptr<Model> fresh = made.make();
      fresh->load(machine);
      check_facts(author, fresh->facts());
      return fresh;
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const std::string checkpoint = model->facts().checkpoint;
    log(LogLevel::info, "loaded model " + made.name +
                            (checkpoint.empty() ? "" : " from " + checkpoint) + " in " +
                            duration(took.count()));
  }
  if (machine.fixed_shape && !model->rows_are_independent())
    throw ConfigError(
        "run.fixed_shape = true, but answers of model '{}' may depend on what shares their forward",
        made.name);
  return model;
}

Models load_models(const Arm& arm, const Machine& machine, Loaded& loaded) {
  Models models;
  for (const char* name : {"", "draft"}) {
    const auto found = arm.models.find(name);
    if (found == arm.models.end()) continue;
    models.models.push_back(load(found->second, machine, loaded));
    models.authors.push_back({"model", found->second.name, found->second.plugin});
    models.facts.push_back(models.models.back()->facts());
    // A draft model without an end drafts none.
    if (arm.decode.end_penalty > 0 && (found->first.empty() || !models.facts.back().stops.empty()))
      models.models.back() = with_end_penalty(models.models.back(), arm.decode.end_penalty);
  }
  for (const auto& model : models.models) {
    if (model->facts().vocabulary == models.target().facts().vocabulary) continue;
    throw ConfigError(
        "model.draft has a vocabulary of {} tokens and the target of {}; they must be equal",
        model->facts().vocabulary, models.target().facts().vocabulary);
  }
  for (const auto& model : models.models) {
    const ModelFacts facts = model->facts(), target = models.target().facts();
    if (facts.dimension == target.dimension && facts.reverse_steps == target.reverse_steps)
      continue;
    throw ConfigError(
        "model.draft draws vectors of {} coordinates in {} reverse steps and the target of {} in "
        "{}; they must be equal",
        facts.dimension, facts.reverse_steps, target.dimension, target.reverse_steps);
  }
  return models;
}

}  // namespace draftlab
