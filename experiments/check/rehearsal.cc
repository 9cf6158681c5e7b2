#include "experiments/check/rehearsal.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/error.h"
#include "experiments/arm/loaded_arm.h"
#include "plugins/models/nn/checkpoint/llama2c.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

template <class Interface>
bool has_option(const Factory<Interface>& bound, const std::string& option) {
  return std::any_of(bound.values.begin(), bound.values.end(),
                     [&](const auto& pair) { return pair.first == option; });
}

// The parts of a cell take up its first prompt, as they would in a decode.
void begin(const Composition& cell, const Prompt& prompt) {
  const Canvas canvas(prompt.length, prompt.given);
  const Blocks blocks = cell.decode.blocks(canvas);
  const auto frontier = cell.frontier.make();
  frontier->begin(blocks, cell.decode);
  frontier->check(canvas);
  cell.drafter.make()->begin(blocks, cell.decode);
  if (verifies(cell)) cell.verifier.make()->begin(blocks, cell.decode);
  cell.acceptance.make()->begin(blocks, cell.decode);
  cell.router.make()->begin(blocks, cell.decode);
  cell.unmasker.make()->begin(blocks, cell.decode);
}

}  // namespace

void Rehearsal::tell(const std::string& sentence, Diagnostics& diagnostics) {
  if (told_.insert(sentence).second) diagnostics.add("{}: {}", path_, sentence);
}

bool Rehearsal::has_checkpoint(const std::string& key, const Factory<Model>& model,
                               Diagnostics& diagnostics) {
  // What a plugin's model reads, it alone knows.
  if (!model.plugin.empty()) return true;
  if (!has_option(model, "checkpoint") || !model.value("random").empty()) return true;
  const std::string option = key + ".checkpoint", folder = model.value("checkpoint");
  if (folder.empty()) {
    tell(option + " is not set, and a run needs it: --" + option +
             " DIR, a folder with config.json and model.safetensors",
         diagnostics);
    return false;
  }
  if (fs::is_regular_file(fs::path(folder) / "config.json")) return true;
  if (fs::is_regular_file(folder)) return true;  // Some families are one file.
  tell(option + " = " + folder +
           " must name a folder with config.json and model.safetensors, and " +
           (fs::is_directory(folder)         ? "it has no config.json"
            : fs::path(folder).is_absolute() ? "there is no such folder"
                                             : "there is none in " + fs::current_path().string() +
                                                   "; write ./ or ../ before a path that is "
                                                   "relative to the config"),
       diagnostics);
  return false;
}

std::shared_ptr<Task>& Rehearsal::task_of(const Composition& cell, Diagnostics& diagnostics) {
  const Factory<Model>& target = cell.models.at("");
  const bool own = target.plugin.empty();
  const bool there = has_checkpoint("model." + target.name, target, diagnostics);
  for (const auto& [role, model] : cell.models)
    if (!role.empty()) has_checkpoint("model." + role, model, diagnostics);
  const std::string checkpoint = there ? target.value("checkpoint") : "";
  std::string key = cell.task.name + "\n" + checkpoint;
  for (const auto& [option, value] : cell.task.values) key += "\n" + option + "=" + value;
  const auto known = tasks_.find(key);
  if (known != tasks_.end()) return known->second;

  std::shared_ptr<Task>& task = tasks_[key];
  const std::vector<Form>& answered = registries_.models.find(target.name)->forms;
  const bool vectors = std::count(answered.begin(), answered.end(), Form::reverse) > 0;
  std::shared_ptr<Tokenizer> tokenizer;
  if (!vectors && !checkpoint.empty() && has_tokenizer(checkpoint)) {
    auto& opened = tokenizers_[checkpoint];
    if (!opened) opened = open_tokenizer(checkpoint);
    tokenizer = opened;
  }
  std::shared_ptr<Task> made = cell.task.make();
  try {
    load_task(*made, tokenizer.get(), own ? checkpoint : "");
  } catch (const NoTokenizer& error) {
    // Without a checkpoint there is no tokenizer either, which need not be said. Where that of a
    // plugin's model lies is known once the model is loaded.
    if (there && own) tell(error.what(), diagnostics);
    return task;
  } catch (const ConfigError& error) {
    tell(error.what(), diagnostics);
    return task;
  } catch (const DataError& error) {
    tell(error.what(), diagnostics);
    return task;
  }
  task = std::move(made);
  return task;
}

void Rehearsal::cell(const Composition& cell, Diagnostics& diagnostics) {
  // A config for draftlab train makes what others name.
  if (cell.trainer || !cell.models.count("") || !cell.task.make) return;
  std::shared_ptr<Task>& task = task_of(cell, diagnostics);
  if (!task) return;
  if (task->size() <= cell.run.first) {
    tell("the task has no prompts from run.first = " + std::to_string(cell.run.first) + " on",
         diagnostics);
    return;
  }
  Prompt prompt;
  try {
    prompt = task->prompt(static_cast<int>(cell.run.first));
  } catch (const ConfigError& error) {
    tell(error.what(), diagnostics);
    task.reset();
    return;
  }
  try {
    if (prompt.choices.empty()) begin(cell, prompt);
  } catch (const ConfigError& error) {
    tell(error.what(), diagnostics);
  }
}

}  // namespace draftlab
