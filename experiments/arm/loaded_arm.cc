#include "experiments/arm/loaded_arm.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <list>
#include <optional>

#include "core/base/error.h"
#include "core/loop/choice.h"
#include "core/metrics/decode_metrics.h"
#include "plugins/models/nn/checkpoint/origin.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

std::string described(const std::string& name,
                      const std::vector<std::pair<std::string, std::string>>& values) {
  std::string text = name;
  for (const auto& [option, value] : values) text += "\n" + option + "=" + value;
  return text;
}

// Checks the tokens of a prompt, because a tokenizer of another model may know more tokens than
// this one does, and a task without one may name any token.
void check(const Prompt& prompt, const ModelFacts& facts, const Tokenizer* tokenizer) {
  const auto known = [&](Token token) {
    if (token < facts.vocabulary || facts.dimension > 0) return;
    if (!tokenizer)
      throw DataError("prompt '{}' holds token {}, and the model knows {}, from 0 on", prompt.id,
                      token, facts.vocabulary);
    throw DataError(
        "prompt '{}' holds token {}, and the model in '{}' knows {}: the tokenizer is another "
        "model's",
        prompt.id, token, facts.checkpoint, facts.vocabulary);
  };
  for (const auto& [position, token] : prompt.given) known(token);
  for (const std::vector<Token>& choice : prompt.choices)
    for (const Token token : choice) known(token);
}

// Returns "'FOLDER', 'FOLDER': ", for a message.
std::string checkpoints(const Models& models) {
  std::string text;
  for (const auto& model : models.models) {
    const std::string folder = model->facts().checkpoint;
    if (!folder.empty()) text += (text.empty() ? "'" : ", '") + folder + "'";
  }
  return text.empty() ? text : text + ": ";
}

}  // namespace

int LoadedArm::prompts() const {
  const int all = std::max(0, task->size() - static_cast<int>(composition.run.first));
  return composition.run.limit > 0 ? std::min<int>(all, static_cast<int>(composition.run.limit))
                                   : all;
}

void LoadedArm::decode(std::span<const Job> jobs,
                       const std::function<bool(SampleRow)>& finished) const {
  struct Slot {
    Job job;
    Prompt prompt;
    SampledChance chance;
    std::unique_ptr<Session> session;
    std::optional<Asking<SampleRow>> work;

    Slot(const LoadedArm& arm, const Job& job)
        : job(job),
          prompt(arm.task->prompt(job.prompt)),
          chance(static_cast<std::uint64_t>(arm.composition.run.seed)) {
      check(prompt, arm.models.target().facts(), arm.tokenizer.get());
      const std::uint64_t sequence = stable_hash(prompt.id + "/" + std::to_string(job.sample));
      session = session_of(arm.composition, arm.models, prompt, {chance, sequence});
      work.emplace(session->decode());
      work->start();
    }
  };
  const auto of_models = [this](const auto& act) {
    try {
      return act();
    } catch (const DataError& error) {
      throw DataError("{}{}", checkpoints(models), error.what());
    }
  };
  const auto batch = static_cast<std::size_t>(composition.run.batch);
  std::list<Slot> slots;
  std::size_t next = 0;
  for (bool wanted = true; wanted;) {
    while (slots.size() < batch && next < jobs.size()) slots.emplace_back(*this, jobs[next++]);
    if (slots.empty()) return;
    std::vector<Session*> waiting;
    for (auto slot = slots.begin(); slot != slots.end();) {
      if (!slot->work->done()) {
        waiting.push_back(slot++->session.get());
        continue;
      }
      SampleRow row = of_models([&] { return slot->work->take(); });
      wanted = finished(finish(std::move(row), slot->job, slot->prompt, *slot->session)) && wanted;
      slot = slots.erase(slot);
    }
    // A place that became free is filled before the next forward.
    if (slots.size() < batch && next < jobs.size()) continue;
    if (wanted && !waiting.empty()) of_models([&] { answer_pending(models, waiting); });
  }
}

SampleRow LoadedArm::finish(SampleRow row, const Job& job, const Prompt& prompt,
                            const Session& session) const {
  row.prompt_index = job.prompt;
  row.sample_index = job.sample;
  // The samples of a batch share forwards.
  if (composition.run.batch > 1) row.seconds = row.own_seconds = kNotMeasured;
  row.text = task->text(prompt, session.canvas());
  row.reference = prompt.text;
  for (const Score& score : task->score(prompt, session.canvas()))
    row.scores.emplace_back(score.name, score.value);
  // Vectors have no frequencies.
  if (models.target().facts().dimension == 0) {
    std::vector<Token> tokens = session.text();
    std::erase(tokens, kNoToken);
    row.entropy_bits = token_entropy_bits(tokens);
  }
  if (judge && !row.text.empty()) {
    const Judge::Score judged = judge->score(row.text);
    row.judge_nll = judged.nll;
    row.judge_tokens = judged.tokens;
  }
  mark_ar(row);
  return row;
}

RunRow LoadedArm::row() const {
  const ModelFacts facts = models.target().facts();
  RunRow row;
  row.id = composition.id;
  row.arm = cell.label.empty() ? composition.drafter.name : cell.label;
  row.config = composition.recorded;
  row.label = cell.name;
  row.sequential = composition.is_sequential();
  const auto verifier = composition.verifier.make();
  row.judges_paths = verifier->judges_paths();
  row.ratio_test = composition.acceptance.make()->exact() && !verifier->has_own_rule();
  for (const auto& [key, value] : cell.shown) row.axes.push_back({.key = key, .value = value});
  row.settings = composition.settings;
  row.model_family = facts.family;
  row.rollback = word(facts.rollback);
  row.checkpoint = facts.checkpoint;
  row.checkpoint_digest = facts.digest;
  row.data_digest = task->digest();
  if (tokenizer) row.tokenizer_digest = tokenizer_digest(facts.checkpoint);
  for (const PluginRow& plugin : plugins(composition))
    row.plugins += (row.plugins.empty() ? "" : " ") + plugin.digest;
  row.vocabulary = facts.vocabulary;
  row.parameters = facts.parameters;
  if (!facts.checkpoint.empty() && std::filesystem::exists(facts.checkpoint + "/config.json")) {
    const Origin origin = read_origin(facts.checkpoint);
    row.original_parameters = origin.parameters;
    row.original_digest = origin.digest;
  }
  return row;
}

std::vector<PluginRow> plugins(const Composition& composition) {
  std::map<std::string, PluginRow> rows;
  for (const auto& [name, file] : all_files(composition.files))
    rows[file->digest] = {file->digest, file->name, file->path, file->source};
  std::vector<PluginRow> sorted;
  for (auto& [digest, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

std::vector<PluginRow> plugins(const std::vector<LoadedArm>& arms) {
  std::map<std::string, PluginRow> rows;
  for (const LoadedArm& arm : arms)
    for (PluginRow& row : plugins(arm.composition)) rows[row.digest] = row;
  std::vector<PluginRow> sorted;
  for (auto& [digest, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

void load_task(Task& task, const Tokenizer* tokenizer, const std::string& checkpoint) {
  try {
    task.load(tokenizer);
  } catch (const NoTokenizer& error) {
    if (checkpoint.empty() || has_tokenizer(checkpoint)) throw;
    throw ConfigError("{}: {}", error.what(), missing_tokenizer(checkpoint));
  }
}

std::string ModelCache::key_of_task(const Composition& made, const std::string& checkpoint) {
  return described(made.task.name, made.task.values) + "\n" + checkpoint;
}

void ModelCache::begin_task(const Composition& made) {
  const auto target = made.models.find("");
  if (target == made.models.end()) return;
  const std::string checkpoint = target->second.value("checkpoint");
  // What the parts of plugins do, they may not do side by side.
  if (!target->second.plugin.empty() || !made.task.plugin.empty()) return;
  if (checkpoint.empty() || !has_tokenizer(checkpoint)) return;
  auto& task = tasks_[key_of_task(made, checkpoint)];
  if (task) return;
  try {
    auto& tokenizer = tokenizers_[checkpoint];
    if (!tokenizer) tokenizer = open_tokenizer(checkpoint);
    const auto fresh =
        std::make_shared<CheckedTask>(made.task.make(), Author{"task", made.task.name, ""});
    load_task(*fresh, tokenizer.get(), checkpoint);
    fresh->begin_digest();
    task = fresh;
  } catch (const Error&) {  // It is met again after the model is loaded, whose errors come first.
  }
}

LoadedArm ModelCache::arm(CellName cell, Composition composition) {
  LoadedArm arm;
  arm.cell = std::move(cell);
  arm.composition = std::move(composition);
  const Composition& made = arm.composition;
  begin_task(made);
  arm.models = load_models(made, made.run.machine, loaded_);
  const std::string checkpoint = arm.models.target().facts().checkpoint;
  // Vectors are no pieces of text, and positions that are only counted need no tokenizer either.
  if (!checkpoint.empty() && arm.models.target().facts().dimension == 0 &&
      has_tokenizer(checkpoint)) {
    auto& tokenizer = tokenizers_[checkpoint];
    if (!tokenizer) tokenizer = open_tokenizer(checkpoint);
    arm.tokenizer = tokenizer;
  }
  auto& task = tasks_[key_of_task(made, checkpoint)];
  if (!task) {
    task = std::make_shared<CheckedTask>(made.task.make(),
                                         Author{"task", made.task.name, made.task.plugin});
    load_task(*task, arm.tokenizer.get(), checkpoint);
  }
  arm.task = task;
  const auto bound = made.models.find("judge");
  if (bound == made.models.end()) return arm;
  auto& judge = judges_[described(bound->second.name, bound->second.values)];
  if (!judge) judge = std::make_shared<Judge>(bound->second, made.run.machine, loaded_);
  arm.judge = judge;
  return arm;
}

void ModelCache::release_unused() {
  const auto unused = [](const auto& entry) { return entry.second.use_count() == 1; };
  // A judge holds models and tokenizers.
  std::erase_if(judges_, unused);
  std::erase_if(tasks_, unused);
  std::erase_if(tokenizers_, unused);
  std::erase_if(loaded_, unused);
}

std::vector<ComposedArm> compose_arms(const Config& config, const Registries& registries) {
  Diagnostics diagnostics;
  std::vector<Cell> cells = expand(config, registries, diagnostics);
  diagnostics.raise();
  std::vector<ComposedArm> composed;
  for (Cell& cell : cells) {
    Composition composition = composition_of(cell, registries, diagnostics);
    composed.push_back({std::move(cell), std::move(composition)});
  }
  diagnostics.raise();
  return composed;
}

std::vector<LoadedArm> load_arms(std::vector<ComposedArm> composed) {
  ModelCache cache;
  std::vector<LoadedArm> arms;
  for (ComposedArm& arm : composed)
    arms.push_back(cache.arm(std::move(arm.cell), std::move(arm.composition)));
  return arms;
}

std::vector<LoadedArm> load_arms(const Config& config, const Registries& registries) {
  return load_arms(compose_arms(config, registries));
}

std::string trace_path(const std::string& config_path, bool resume) {
  const std::string stem = "out/" + std::filesystem::path(config_path).stem().string();
  for (int n = 1;; ++n) {
    const std::string path = stem + (n == 1 ? "" : "-" + std::to_string(n)) + ".h5";
    const bool begun = std::filesystem::exists(path + ".units");
    if (!std::filesystem::exists(path) && (resume || !begun)) return path;
  }
}

}  // namespace draftlab
