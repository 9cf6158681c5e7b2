// How often the intervals of off-policy estimates hold the truth. The truth is enumerated: every
// outcome of the toy `table` under each router. Logs are drawn: texts of the same toy under a
// router that is explored.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analysis/replay/replay.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/certify/enumeration.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {

class OffPolicyCoverage {
 public:
  // What became of the logs: how often each interval held the truth, and the mean of each estimate.
  struct Held {
    double truth = 0;
    int logs = 0, refused = 0;
    // Of inverse propensity, self-normalised and doubly robust, in this order.
    std::array<int, 3> held{};
    std::array<double, 3> mean{}, spread{};
  };

  explicit OffPolicyCoverage(double epsilon) : folder_("off-policy"), epsilon_(epsilon) {
    register_builtin_plugins(registries_);
    register_sections(registries_);
    for (const std::string router : {"always", "never", "hysteresis"}) truth_[router] = nfe(router);
  }

  double truth(const std::string& router) const { return truth_.at(router); }

  // Draws `logs` logs of `texts` texts each, and estimates what each router would have cost.
  std::map<std::string, Held> run(int logs, int texts) {
    const std::vector<LoadedArm> arms =
        load_arms(config("explore", "[router.explore]\nof = min-span\nspan = 2\nepsilon = " +
                                        std::to_string(epsilon_) + "\n"),
                  registries_);
    ReplayRequest request;
    const Composition hysteresis = load_arms(config("hysteresis"), registries_)[0].composition;
    request.routers = {{"hysteresis", hysteresis.router, hysteresis.estimator}};
    std::map<std::string, Held> result;
    for (int log = 0; log < logs; ++log, drawn_ += texts)
      add(replay(Frame({written(arms, texts)}), request), result);
    for (auto& [router, held] : result) {
      const double n = std::max(1, held.logs - held.refused);
      for (std::size_t i = 0; i < held.mean.size(); ++i) {
        held.mean[i] /= n;
        held.spread[i] = std::sqrt(std::max(0.0, held.spread[i] / n - held.mean[i] * held.mean[i]));
      }
    }
    return result;
  }

 private:
  // A block-diffusion toy of one block, whose texts ask a router one to four times: few enough that
  // a log of some hundred texts has those of any router.
  static Config config(const std::string& router, const std::string& more = "") {
    Diagnostics diagnostics;
    Config made = Config::parse(
        "model = table\ndrafter = self\nverifier = chain\ntask = positions\nfrontier = blocks\n"
        "unmasker = threshold\nestimator = entropy\nrouter = " +
            router +
            "\nrun.samples = 1\n[model.table]\nkind = views\nvocabulary = 3\nlength = 5\n"
            "noise = 0.8\n[task.positions]\nlength = 5\nprompt = 0:1\n[decode]\nblock_size = 4\n"
            "threshold = 0.7\n[router.hysteresis]\non = 0\noff = -0.5\n" +
            more,
        "toy", diagnostics);
    diagnostics.raise();
    return made;
  }

  double nfe(const std::string& router) const {
    const std::vector<LoadedArm> arms = load_arms(config(router), registries_);
    return enumerate(arms[0].composition, arms[0].models, arms[0].task->prompt(0),
                     {.most = 10000000})
        .expected_nfe;
  }

  // Writes a log of texts that no log had before. Each counts as a prompt of its own.
  std::string written(const std::vector<LoadedArm>& arms, int texts) const {
    const std::string path = folder_ / (std::to_string(drawn_) + ".h5");
    TraceWriter writer(path, {{}, {arms[0].row()}}, arms[0].composition.trace, false);
    std::vector<Job> jobs;
    for (int text = 0; text < texts; ++text) jobs.push_back({0, drawn_ + text});
    int prompt = 0;
    arms[0].decode(jobs, [&](SampleRow row) {
      row.prompt_index = prompt, row.prompt_id = "p" + std::to_string(prompt);
      row.sample_index = 0;
      ++prompt;
      writer.sample(std::move(row));
      return true;
    });
    writer.close();
    return path;
  }

  void add(const Replay& replay, std::map<std::string, Held>& result) const {
    for (const OffPolicyValue& value : replay.values) {
      Held& held = result[value.router];
      held.truth = truth_.at(value.router);
      ++held.logs;
      if (!value.refused.empty()) {
        ++held.refused;
        continue;
      }
      const Estimate* const estimates[] = {&value.inverse, &value.normalised, &value.robust};
      for (std::size_t i = 0; i < std::size(estimates); ++i) {
        const Estimate& one = *estimates[i];
        held.held[i] += one.interval.low <= held.truth && held.truth <= one.interval.high;
        held.mean[i] += one.value, held.spread[i] += one.value * one.value;
      }
    }
  }

  Registries registries_;
  TraceFolder folder_;
  double epsilon_;
  std::map<std::string, double> truth_;
  int drawn_ = 0;
};

}  // namespace draftlab
