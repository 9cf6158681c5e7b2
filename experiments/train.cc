// `draftlab train CONFIG` makes a checkpoint or a tokenizer, one for each cell of the config.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "core/config/composition.h"
#include "core/config/train.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/commands.h"

namespace draftlab {
namespace {

struct TrainFlags {
  std::string out;
  bool resume = false;
  void declare(OptionSet& set) {
    set.add("out", &out).help("Folder of the checkpoint; without it out/CONFIG.");
    set.add("resume", &resume).help("Goes on with the training that the folder holds.");
  }
};

// Returns the folder of a cell: "trainer.any-subset.order=lattice" becomes "order=lattice".
std::string folder_name(const Cell& cell) {
  std::string name;
  for (const auto& [axis, value] : cell.axes) {
    name += (name.empty() ? "" : ",") + axis.substr(axis.rfind('.') + 1) + "=" + value;
  }
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

// Validates by generation (ASSD, Figures 3 and 4): the config's task is decoded by the checkpoint
// with the config's parts.
ValidationRow generate(Config config, const Registries& registries, const std::string& checkpoint) {
  config.erase("trainer");
  if (!config.find("model")) config.set({"model", "any-subset", "draftlab train"});
  config.set(
      {"model." + config.find("model")->value + ".checkpoint", checkpoint, "draftlab train"});
  const std::vector<LoadedArm> arms = load_arms(config, registries);
  const LoadedArm& arm = arms.front();
  std::vector<Job> jobs;
  for (int i = 0; i < arm.prompts(); ++i)
    jobs.push_back({static_cast<int>(arm.composition.run.first) + i, 0});
  double perplexity = 0, entropy = 0, nfe = 0, generated = 0;
  arm.decode(jobs, [&](const SampleRow& row) {
    perplexity += row.judge_tokens > 0
                      ? std::exp(row.judge_nll / static_cast<double>(row.judge_tokens))
                      : kNotMeasured;
    entropy += row.entropy_bits;
    nfe += static_cast<double>(row.counts.nfe());
    generated += row.generated;
    return true;
  });
  const auto n = static_cast<double>(jobs.size());
  ValidationRow row;
  row.perplexity = perplexity / n;
  row.entropy_bits = entropy / n;
  row.nfe = nfe / n;
  row.nfe_per_token = nfe / generated;
  return row;
}

// A checkpoint is the work of days: it is written over only by the training that made it.
void check_folder(const std::string& folder, bool resume) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool goes_on = resume && fs::exists(folder + "/training.safetensors", error);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (goes_on || entry.path().extension() != ".safetensors") continue;
    throw OutputError("'{}' holds {} already{}", folder, entry.path().filename().string(),
                      resume ? ", without the state of its training: --resume has nothing to go "
                               "on with, and --out names another folder"
                             : ": --resume goes on with it, or --out names another folder");
  }
}

int train(const TrainFlags& flags, const CommandLine& line, const Registries& registries) {
  Diagnostics diagnostics;
  const Config config = Config::read(line.paths[0], line.overrides, diagnostics);
  diagnostics.raise();
  if (!config.find("trainer"))
    throw ConfigError(
        "{}: no trainer is named; write trainer = NAME (draftlab list trainer shows them)",
        line.paths[0]);
  const std::vector<Cell> cells = expand(config, registries, diagnostics);
  std::vector<Composition> compositions;
  for (const Cell& cell : cells)
    compositions.push_back(composition_of(cell, registries, diagnostics));
  diagnostics.raise();
  for (const Composition& composition : compositions) {
    const Precision dtype = composition.run.machine.dtype;
    if (is_quantised(dtype))
      throw ConfigError(
          "run.dtype = {} rounds weights that are read; training is done in f32 or bf16",
          word(dtype));
  }

  const std::string out =
      flags.out.empty() ? "out/" + std::filesystem::path(line.paths[0]).stem().string() : flags.out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Config& cell = cells[i].config;
    const Composition& composition = compositions[i];
    TrainContext context{registries,
                         cell,
                         composition.run.machine,
                         static_cast<std::uint64_t>(composition.run.seed),
                         cells.size() > 1 ? out + "/" + folder_name(cells[i]) : out,
                         flags.resume};
    check_folder(context.out, context.resume);
    if (cell.find("task")) {
      context.generate = [&cell, &registries](const std::string& checkpoint) {
        return generate(cell, registries, checkpoint);
      };
    }
    if (cells.size() > 1)
      std::cout << "cell " << i + 1 << " of " << cells.size() << ": " << cells[i].label
                << std::endl;
    composition.trainer->make()->run(context);
  }
  return 0;
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .arguments = "CONFIG",
          .summary = "make a checkpoint or a tokenizer",
          .takes_config = true,
          .flags = with_flags(train)};
}

}  // namespace draftlab
