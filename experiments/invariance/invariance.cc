// `draftlab invariance CONFIG` says how much a model's answers depend on how they are computed. It
// decodes some prompts on one thread, each question in a forward of its own, and asks the same row
// by row, with sequences side by side, on more threads, and in another precision.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/progress.h"
#include "core/base/stop_request.h"
#include "core/base/words.h"
#include "core/parts/task.h"
#include "experiments/arm/compared_model.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/invariance/invariance.h"

namespace draftlab {
namespace {

struct InvarianceFlags {
  std::int64_t prompts = 4, batch = 8, threads = 2;
  std::string out;
  void declare(OptionSet& set) {
    set.add("prompts", &prompts).in(1, 1 << 20).help("Prompts of each arm that are decoded.");
    set.add("batch", &batch).in(1, 1024).help("Sequences side by side, all of one text.");
    set.add("threads", &threads).in(1, 1024).help("Threads that are compared with one.");
    set.add("out", &out).help("File for the numbers, as JSON.");
  }
};

// The ways of computing one model of an arm, and what they have shown.
struct ModelWays {
  std::string role;
  std::vector<Way> ways;
  std::shared_ptr<Comparison> comparison;
};

// The precision that answers are compared with; quantised weights are another model's.
std::optional<Precision> other_precision(Precision precision) {
  if (is_quantised(precision)) return std::nullopt;
  return precision == Precision::f32 ? Precision::bf16 : Precision::f32;
}

class Invariance {
 public:
  Invariance(const InvarianceFlags& flags, Loaded& loaded) : flags_(flags), loaded_(loaded) {}

  // Decodes prompts of the arm, and returns what its models have shown.
  std::vector<ModelWays> decode(LoadedArm arm) {
    std::vector<ModelWays> all;
    for (std::size_t i = 0; i < arm.models.models.size(); ++i) {
      std::shared_ptr<Model>& model = arm.models.models[i];
      if (model->facts().dimension > 0)
        throw ConfigError(
            "arm '{}': the tokens of model '{}' are vectors, and invariance compares laws over "
            "token ids",
            arm.cell.label, model->facts().family);
      const std::string role = i == 0 ? "" : "draft";
      ModelWays of_model{
          .role = role,
          .ways = ways(arm.composition.models.at(role), arm.composition.run.machine, model),
          .comparison = std::make_shared<Comparison>()};
      of_model.comparison->ways.resize(of_model.ways.size());
      model = compared(model, of_model.ways, of_model.comparison);
      all.push_back(std::move(of_model));
    }
    arm.judge = nullptr;
    arm.composition.run.batch = 1;
    const int prompts = std::min(arm.prompts(), static_cast<int>(flags_.prompts));
    Progress progress(arm.cell.label.empty() ? "decoding" : arm.cell.label, "prompts", prompts);
    for (int i = 0; i < prompts && !stop_requested(); ++i) {
      const Job job{static_cast<int>(arm.composition.run.first) + i, 0};
      for (const ModelWays& model : all) model.comparison->prompt = arm.task->prompt(job.prompt).id;
      arm.decode({&job, 1}, [](const SampleRow&) { return true; });
      progress.add(1);
    }
    return all;
  }

 private:
  std::vector<Way> ways(const Factory<Model>& made, Machine machine,
                        const std::shared_ptr<Model>& model) {
    std::vector<Way> ways = {
        {.name = "row by row", .model = model, .alone = true},
        {.name = "batch " + std::to_string(flags_.batch),
         .model = model,
         .sequences = static_cast<int>(flags_.batch),
         .promised = model->rows_are_independent()},
        {.name = "threads " + std::to_string(flags_.threads),
         .model = model,
         .threads = static_cast<int>(flags_.threads)},
    };
    const auto other = other_precision(machine.dtype);
    if (!other) return ways;
    machine.dtype = *other;
    try {
      ways.push_back({.name = std::string(word(*other)), .model = load(made, machine, loaded_)});
    } catch (const ConfigError& error) {
      std::cerr << "draftlab: " << word(*other) << " is left out: " << error.what() << "\n";
    }
    return ways;
  }

  const InvarianceFlags& flags_;
  Loaded& loaded_;
};

void print(const ModelWays& model) {
  const bool asked = model.comparison->ways.front().rows > 0;
  if (!model.role.empty() || !asked)
    std::printf("%s%s%s\n", model.role.empty() ? "the target" : "model.", model.role.c_str(),
                asked ? "" : " was asked nothing");
  if (!asked) return;
  std::printf("  %-12s %7s %9s %9s %9s %9s   %s\n", "computed", "rows", "same bits", "TV", "log p",
              "at fault", "another best token: tie, rounding, fault");
  for (std::size_t i = 0; i < model.ways.size(); ++i) {
    const Agreement& agreement = model.comparison->ways[i];
    const auto of = [&](Cause cause) {
      return static_cast<long long>(agreement.other_choices[static_cast<std::size_t>(cause)]);
    };
    std::printf("  %-12s %7lld %7.1f %% %9.2g %9.2g %9lld   %19s %4lld %9lld %6lld\n",
                model.ways[i].name.c_str(), static_cast<long long>(agreement.rows),
                100.0 * static_cast<double>(agreement.same_bits) /
                    static_cast<double>(std::max<std::int64_t>(agreement.rows, 1)),
                agreement.variation, agreement.log_probability,
                static_cast<long long>(agreement.faults), "", of(Cause::tie), of(Cause::rounding),
                of(Cause::fault));
  }
}

void print_first(const ModelWays& model, const Tokenizer* tokenizer) {
  for (std::size_t i = 0; i < model.ways.size(); ++i) {
    const auto& first = model.comparison->ways[i].first;
    if (!first) continue;
    std::cout << "  first other choice with " << model.ways[i].name << ", a " << word(first->cause)
              << ": prompt '" << first->prompt << "', position " << first->position << ", "
              << piece_of(tokenizer, first->token) << " for "
              << piece_of(tokenizer, first->reference);
    std::printf("; log p apart by %.2g, and by %.2g the other way round\n", first->margin,
                -first->other_margin);
  }
}

nlohmann::json json(const ModelWays& model) {
  nlohmann::json ways = nlohmann::json::array();
  for (std::size_t i = 0; i < model.ways.size(); ++i) {
    const Agreement& agreement = model.comparison->ways[i];
    nlohmann::json way = {{"way", model.ways[i].name},
                          {"rows", agreement.rows},
                          {"same_bits", agreement.same_bits},
                          {"faults", agreement.faults},
                          {"total_variation", agreement.variation},
                          {"log_probability", agreement.log_probability}};
    for (const Cause cause : {Cause::tie, Cause::rounding, Cause::fault})
      way["other_choices"][std::string(word(cause))] =
          agreement.other_choices[static_cast<std::size_t>(cause)];
    if (const auto& first = agreement.first)
      way["first"] = {{"prompt", first->prompt},       {"position", first->position},
                      {"reference", first->reference}, {"token", first->token},
                      {"margin", first->margin},       {"other_margin", first->other_margin},
                      {"cause", word(first->cause)}};
    ways.push_back(std::move(way));
  }
  return {{"model", model.role.empty() ? "target" : model.role}, {"ways", std::move(ways)}};
}

int invariance(const InvarianceFlags& flags, const CommandLine& line,
               const Registries& registries) {
  Diagnostics diagnostics;
  const Config config = Config::read(line.paths[0], line.overrides, diagnostics);
  diagnostics.raise();
  const StopOnSignals stopping;
  Loaded loaded;
  nlohmann::json out = nlohmann::json::array();
  std::int64_t faults = 0;
  for (const LoadedArm& arm : load_arms(config, registries)) {
    const std::vector<ModelWays> all = Invariance(flags, loaded).decode(arm);
    if (stop_requested()) return 130;
    std::printf("%s, %s: as asked, on one thread, in %s, against\n", line.paths[0].c_str(),
                arm.row().arm.c_str(), word(arm.composition.run.machine.dtype).data());
    nlohmann::json models = nlohmann::json::array();
    for (const ModelWays& model : all) {
      print(model);
      std::fflush(stdout);
      print_first(model, arm.tokenizer.get());
      std::cout.flush();
      models.push_back(json(model));
      for (const Agreement& way : model.comparison->ways) faults += way.faults;
    }
    out.push_back({{"arm", arm.row().arm}, {"models", std::move(models)}});
  }
  std::printf(
      "TV and log p are the largest differences, of a law and of its best token. A row is at fault "
      "where it\ndiffers by more than rounding explains, or at all though the model says that its "
      "rows do not depend on\nwhat shares their forward.\n");
  if (!flags.out.empty()) write_whole(flags.out, out.dump(2) + "\n");
  return faults == 0 ? 0 : 1;
}

}  // namespace

Command invariance_command() {
  return {.name = "invariance",
          .arguments = "CONFIG",
          .summary = "says how much answers depend on rows, batch, threads and precision",
          .takes_config = true,
          .flags = with_flags(invariance)};
}

}  // namespace draftlab
