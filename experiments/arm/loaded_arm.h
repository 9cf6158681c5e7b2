// An arm of a run: one cell of the config with its models and its task. It decodes and scores
// prompts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/config/composition.h"
#include "core/loop/checked_task.h"
#include "core/loop/session.h"
#include "core/parts/task.h"
#include "core/trace/rows.h"
#include "experiments/arm/judge.h"

namespace draftlab {

// One sample to decode.
struct Job {
  int prompt = 0, sample = 0;
};

struct LoadedArm {
  CellName cell;
  Composition composition;
  Models models;
  // The tokenizer; null for models without text.
  std::shared_ptr<Tokenizer> tokenizer;
  std::shared_ptr<Task> task;
  // The judge; null where none is named.
  std::shared_ptr<Judge> judge;

  // The number of prompts that the config asks for.
  int prompts() const;
  // Decodes `run.batch` samples at a time in lockstep; each that finishes is handed over and
  // replaced at once. When `finished` returns false the others are dropped.
  void decode(std::span<const Job> jobs, const std::function<bool(SampleRow)>& finished) const;
  RunRow row() const;

 private:
  // Fills in what is known of a sample once it is decoded: text, scores and the judge's numbers.
  SampleRow finish(SampleRow row, const Job& job, const Prompt& prompt,
                   const Session& session) const;
};

// The arms of a run, and what several of them share: models, tokenizers, tasks and judges are
// loaded once.
class ModelCache {
 public:
  LoadedArm arm(CellName cell, Composition composition);
  // Frees the models, tokenizers and tasks that no remaining arm uses.
  void release_unused();

 private:
  // What a task is told apart by: its options, and the checkpoint whose tokenizer it reads with.
  static std::string key_of_task(const Composition& made, const std::string& checkpoint);
  // Loads the task of a model of text, and begins with its prompts, before the model is loaded,
  // which may take as long.
  void begin_task(const Composition& made);

  Loaded loaded_;
  std::map<std::string, std::shared_ptr<Tokenizer>> tokenizers_;
  std::map<std::string, std::shared_ptr<CheckedTask>> tasks_;
  std::map<std::string, std::shared_ptr<Judge>> judges_;
};

// A cell of a config, composed; nothing of it is loaded.
struct ComposedArm {
  Cell cell;
  Composition composition;
};

// Composes the cells of a config.
std::vector<ComposedArm> compose_arms(const Config& config, const Registries& registries);
// Loads what they name, each model and task once.
std::vector<LoadedArm> load_arms(std::vector<ComposedArm> composed);
std::vector<LoadedArm> load_arms(const Config& config, const Registries& registries);

// Returns the files of plugins that take part, for a trace, each once and sorted by digest.
std::vector<PluginRow> plugins(const Composition& composition);
std::vector<PluginRow> plugins(const std::vector<LoadedArm>& arms);

// Reads a task's data. Throws NoTokenizer where the task needs text and the checkpoint's folder has
// no tokenizer.
void load_task(Task& task, const Tokenizer* tokenizer, const std::string& checkpoint);

// Returns a free path for the trace of a config: out/NAME.h5, or out/NAME-2.h5 where that is taken.
// With `resume` it is the first whose trace is not finished.
std::string trace_path(const std::string& config_path, bool resume);

}  // namespace draftlab
