#include "experiments/arm.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "core/metrics.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

std::string described(const std::string& name, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string text = name;
  for (const auto& [option, value] : values) text += "\n" + option + "=" + value;
  return text;
}

}  // namespace

int Arm::prompts() const {
  const int all = std::max(0, task->size() - static_cast<int>(composition.run.first));
  return composition.run.limit > 0 ? std::min<int>(all, static_cast<int>(composition.run.limit)) : all;
}

std::vector<SampleRow> Arm::decode(std::span<const int> prompt_indices, int sample_index) const {
  struct Slot {
    Prompt prompt;
    std::unique_ptr<SampledChance> chance;
    std::unique_ptr<Decoder> decoder;
    std::unique_ptr<Asking<SampleRow>> work;
  };
  std::vector<Slot> slots;
  for (const int index : prompt_indices) {
    Slot slot;
    slot.prompt = task->prompt(index);
    slot.chance = std::make_unique<SampledChance>(static_cast<std::uint64_t>(composition.run.seed));
    const std::uint64_t sequence = stable_hash(slot.prompt.id + "/" + std::to_string(sample_index));
    slots.push_back(std::move(slot));
    slots.back().decoder = std::make_unique<Decoder>(composition, models, slots.back().prompt, sequence, *slots.back().chance);
  }
  for (Slot& slot : slots) {
    slot.work = std::make_unique<Asking<SampleRow>>(slot.decoder->decode());
    slot.work->start();
  }
  for (std::vector<Decoder*> waiting;;) {
    waiting.clear();
    for (const Slot& slot : slots) if (!slot.work->done()) waiting.push_back(slot.decoder.get());
    if (waiting.empty()) break;
    answer_pending(models, waiting);
  }

  std::vector<SampleRow> rows;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    SampleRow row = slots[i].work->take();
    const Canvas& canvas = slots[i].decoder->canvas();
    row.prompt_index = prompt_indices[i];
    row.sample_index = sample_index;
    if (composition.run.batch > 1) row.seconds = row.own_seconds = kNotMeasured;  // forwards are shared
    row.text = task->text(slots[i].prompt, canvas);
    row.reference = slots[i].prompt.text;
    for (const Score& score : task->score(slots[i].prompt, canvas)) row.scores.emplace_back(score.name, score.value);
    row.entropy_bits = token_entropy_bits(canvas.tokens());
    if (judge && !row.text.empty()) {
      const Judge::Score judged = judge->score(row.text);
      row.judge_nll = judged.nll;
      row.judge_tokens = judged.tokens;
    }
    mark_ar(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

RunRow Arm::row() const {
  const ModelFacts facts = models.target().facts();
  RunRow row;
  row.id = composition.id;
  row.arm = label.empty() ? composition.drafter.name : label;
  row.config = composition.effective;
  row.model_family = facts.family;
  row.checkpoint = facts.checkpoint;
  row.checkpoint_digest = facts.digest;
  row.data_digest = task->digest();
  return row;
}

Arm Shelf::arm(std::string label, Composition composition) {
  Arm arm;
  arm.label = std::move(label);
  arm.composition = std::move(composition);
  const Composition& made = arm.composition;
  arm.models = load_models(made, loaded_);
  const std::string checkpoint = arm.models.target().facts().checkpoint;
  if (!checkpoint.empty()) {
    auto& tokenizer = tokenizers_[checkpoint];
    if (!tokenizer) tokenizer = open_tokenizer(checkpoint);
    arm.tokenizer = tokenizer;
  }
  auto& task = tasks_[described(made.task.name, made.task.values) + "\n" + checkpoint];
  if (!task) {
    task = made.task.make();
    task->load(arm.tokenizer.get());
  }
  arm.task = task;
  const auto bound = made.models.find("judge");
  if (bound == made.models.end()) return arm;
  auto& judge = judges_[described(bound->second.name, bound->second.values)];
  if (!judge) judge = std::make_shared<Judge>(bound->second, made.run.machine, loaded_);
  arm.judge = judge;
  return arm;
}

void Shelf::tidy() {
  const auto unused = [](const auto& entry) { return entry.second.use_count() == 1; };
  std::erase_if(judges_, unused);  // a judge holds models and tokenizers
  std::erase_if(tasks_, unused);
  std::erase_if(tokenizers_, unused);
  std::erase_if(loaded_, unused);
}

std::vector<Arm> load_arms(const Config& config, const Registries& registries) {
  Faults faults;
  const std::vector<Cell> cells = expand(config, registries, faults);
  faults.raise();
  std::vector<Composition> compositions;
  for (const Cell& cell : cells) compositions.push_back(compose(cell.config, registries, faults));
  faults.raise();
  Shelf shelf;
  std::vector<Arm> arms;
  for (std::size_t i = 0; i < cells.size(); ++i) arms.push_back(shelf.arm(cells[i].label, std::move(compositions[i])));
  return arms;
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
