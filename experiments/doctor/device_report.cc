#include "experiments/doctor/device_report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/base/progress.h"
#include "experiments/arm/compared_model.h"
#include "experiments/arm/config_folder.h"
#include "experiments/arm/loaded_arm.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// Collects the times of a model's forwards, in milliseconds, as long as it lives.
class Timed {
 public:
  explicit Timed(std::shared_ptr<Model> model) : model_(std::move(model)) {
    model_->watch([this](std::int64_t, std::int64_t ns) {
      times_.push_back(1e-6 * static_cast<double>(ns));
    });
  }
  ~Timed() { model_->watch({}); }
  Timed(const Timed&) = delete;
  double middle() const { return median(times_); }

 private:
  std::shared_ptr<Model> model_;
  std::vector<double> times_;
};

// A model of an arm, and the same on the device.
struct Twins {
  TriedModel tried;
  std::shared_ptr<Comparison> comparison = std::make_shared<Comparison>();
  std::unique_ptr<Timed> own = nullptr, other = nullptr;
};

class DeviceTrial {
 public:
  DeviceTrial(Device device, Precision dtype) : device_(device), dtype_(dtype) {}

  // Decodes a prompt of the arm unless all of its models were tried before.
  void decode(LoadedArm arm) {
    std::vector<Twins> all;
    for (std::size_t i = 0; i < arm.models.models.size(); ++i)
      pair(arm.composition.models.at(i == 0 ? "" : "draft"), arm.models.models[i], all);
    arm.judge = nullptr;
    const Job job{static_cast<int>(arm.composition.run.first), 0};
    if (std::any_of(all.begin(), all.end(), [](const Twins& one) { return one.other != nullptr; }))
      arm.decode({&job, 1}, [](const SampleRow&) { return true; });
    for (Twins& one : all) finish(one);
  }

  const std::vector<TriedModel>& tried() const { return tried_; }

 private:
  // Puts a model in the place of `model` that asks the device, too.
  void pair(const Factory<Model>& made, std::shared_ptr<Model>& model, std::vector<Twins>& all) {
    const ModelFacts facts = model->facts();
    if (!met_.insert(made.name + " " + facts.checkpoint).second) return;
    // A folder may be named with a slash at its end.
    const fs::path checkpoint = (fs::path(facts.checkpoint) / "").parent_path();
    Twins twins{.tried = {.name = made.name,
                          .checkpoint = checkpoint.filename().string(),
                          .dtype = dtype_,
                          .explained = explained_difference(facts.rounding)}};
    try {
      const auto other = load(made, {.device = device_, .dtype = dtype_}, loaded_);
      twins.own = std::make_unique<Timed>(model);
      twins.other = std::make_unique<Timed>(other);
      twins.comparison->ways.resize(1);
      model =
          compared(model, {{.name = std::string(word(device_)), .model = other}}, twins.comparison);
    } catch (const ConfigError& error) {
      twins.tried.refusal = error.what();
    }
    all.push_back(std::move(twins));
  }

  void finish(Twins& one) {
    if (one.other) {
      const Agreement& agreement = one.comparison->ways.front();
      one.tried.rows = agreement.rows;
      one.tried.faults = agreement.faults;
      one.tried.distance = agreement.variation;
      one.tried.milliseconds = one.other->middle();
      one.tried.cpu_milliseconds = one.own->middle();
    }
    tried_.push_back(one.tried);
  }

  Device device_;
  Precision dtype_;
  Loaded loaded_;
  // The models that were tried, by plugin and checkpoint.
  std::set<std::string> met_;
  std::vector<TriedModel> tried_;
};

void print(const TriedModel& tried) {
  std::printf("%-16s %-20s %-5s ", tried.name.c_str(), tried.checkpoint.c_str(),
              std::string(word(tried.dtype)).c_str());
  if (!tried.refusal.empty()) {
    std::printf("  WRONG: %s\n", tried.refusal.c_str());
    return;
  }
  std::printf("%6lld %10.1e %10.1e %10.2f %10.2f  %s\n", static_cast<long long>(tried.rows),
              tried.distance, tried.explained, tried.milliseconds, tried.cpu_milliseconds,
              tried.works() ? "" : "WRONG");
  std::fflush(stdout);
}

}  // namespace

std::vector<std::string> device_configs() {
  std::vector<std::string> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(config_folder() / "devices"))
    if (entry.path().extension() == ".ini") all.push_back(entry.path().string());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<TriedModel> try_models(const std::string& config, Device device,
                                   const Registries& registries) {
  std::vector<TriedModel> all;
  for (const Precision dtype : {Precision::f32, Precision::bf16}) {
    Diagnostics diagnostics;
    const Config read = Config::read(
        config,
        {{"run.device", "cpu"}, {"run.dtype", std::string(word(dtype))}, {"run.batch", "1"}},
        diagnostics);
    diagnostics.raise();
    DeviceTrial trial(device, dtype);
    for (LoadedArm& arm : load_arms(read, registries)) trial.decode(std::move(arm));
    all.insert(all.end(), trial.tried().begin(), trial.tried().end());
  }
  return all;
}

int report_device(const std::vector<std::string>& configs, Device device,
                  const Registries& registries) {
  std::printf("%-16s %-20s %-5s %6s %10s %10s %10s %10s\n", "model", "checkpoint", "dtype", "rows",
              "apart", "at most", "ms", "CPU's ms");
  int failed = 0;
  for (const std::string& config : configs)
    for (const TriedModel& tried : try_models(config, device, registries)) {
      print(tried);
      failed += !tried.works();
    }
  return failed;
}

}  // namespace draftlab
