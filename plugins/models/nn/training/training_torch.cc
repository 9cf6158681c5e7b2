#include "plugins/models/nn/training/training_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/prob/chance.h"
#include "core/trace/curves.h"
#include "core/trace/provenance.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/training/adamw.h"

namespace draftlab {

namespace {

volatile std::sig_atomic_t signal_caught = 0;
void note(int signal) { signal_caught = signal; }

struct Stopwatch {
  // The seconds of the runs that this one resumes.
  double before = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  double seconds() const {
    return before + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

void say(const std::string& line) { std::cout << line << std::endl; }

constexpr const char* kStateFile = "training.safetensors";

// What a training may not change while it goes on: the seed, and the options of its trainer but for
// how long it goes and how often it looks at itself.
std::map<std::string, std::string> begun_with(const Training& training,
                                              const TrainContext& context) {
  std::map<std::string, std::string> keys = {{"run.seed", std::to_string(context.seed)}};
  for (const Config::Entry* const entry : context.config.section("trainer." + training.name)) {
    const std::string option = entry->key.substr(entry->key.rfind('.') + 1);
    if (option != "steps" && option != "save_minutes" && !option.starts_with("validate_"))
      keys[entry->key] = entry->value;
  }
  return keys;
}

// Throws ConfigError where the state was made with other options than those of the config.
void check_same(const std::string& state, const std::string& begun,
                const std::map<std::string, std::string>& now) {
  const nlohmann::json then = nlohmann::json::parse(begun, nullptr, false);
  if (!then.is_object()) return;  // The state is older than this check.
  const auto differs = [&](const std::string& key, const std::string& was, const std::string& is) {
    throw ConfigError(
        "'{}' was begun with {} {}, and the config has it {}: --resume goes on with what was "
        "begun, and --out names another folder",
        state, key, was, is);
  };
  for (const auto& [key, value] : then.items())
    if (!value.is_string()) throw DataError("'{}' is damaged: its '{}' is no text", state, key);
  for (const auto& [key, value] : now) {
    const std::string was = then.value(key, "unset");
    if (was != value) differs(key, was, value);
  }
  for (const auto& [key, value] : then.items())
    if (now.count(key) == 0) differs(key, value.get<std::string>(), "unset");
}

// The state that a resumed run needs. The network's parameters and gradients become views of two
// flat arrays, which the optimizer and the checkpoint see.
struct State {
  std::vector<float> values, gradient;
  // The moving average of the values; empty where the values themselves are saved.
  std::vector<float> average;
  AdamW optimizer;
  double seconds = 0;

  State(std::vector<std::pair<std::string, at::Tensor>> named, const TrainingOptions& options) {
    std::int64_t total = 0;
    for (const auto& [name, parameter] : named) total += parameter.numel();
    values.resize(total);
    gradient.resize(total);
    optimizer.first.resize(total);
    optimizer.second.resize(total);
    optimizer.weight_decay = options.weight_decay;
    std::int64_t at = 0;
    for (auto& one : named) {
      at::Tensor& parameter = one.second;
      const auto view = [&](std::vector<float>& flat) {
        return at::from_blob(flat.data() + at, parameter.sizes(), at::kFloat);
      };
      view(values).copy_(parameter);
      parameter.set_data(view(values));
      parameter.set_requires_grad(true);
      parameter.mutable_grad() = view(gradient);
      at += parameter.numel();
    }
    if (options.average > 0) average = values;
  }
  std::int64_t step() const { return optimizer.steps; }

  // Lets the average follow the values that a step has changed.
  void follow(double decay) {
    for (std::size_t i = 0; i < average.size(); ++i)
      average[i] += static_cast<float>(1 - decay) * (values[i] - average[i]);
  }
  // Runs `look` while the network holds what is to be saved.
  void averaged(const std::function<void()>& look) {
    std::swap_ranges(average.begin(), average.end(), values.begin());
    look();
    std::swap_ranges(average.begin(), average.end(), values.begin());
  }

  // `begun` is what begun_with() says.
  void write(const std::string& path, const std::map<std::string, std::string>& begun) const {
    const auto bytes = [](const std::vector<float>& flat) {
      return TensorBytes{ElementType::f32,
                         {static_cast<std::int64_t>(flat.size())},
                         std::as_bytes(std::span(flat))};
    };
    std::vector<std::pair<std::string, TensorBytes>> tensors = {
        {"first_moment", bytes(optimizer.first)},
        {"parameters", bytes(values)},
        {"second_moment", bytes(optimizer.second)}};
    if (!average.empty()) tensors.emplace_back("average", bytes(average));
    write_safetensors(path, tensors,
                      {{"step", std::to_string(step())},
                       {"seconds", std::to_string(seconds)},
                       {"begun_with", nlohmann::json(begun).dump()}});
  }
  void read(const std::string& path, const std::map<std::string, std::string>& begun) {
    const SafetensorsFile file(path);
    if (const auto found = file.metadata().find("begun_with"); found != file.metadata().end())
      check_same(path, found->second, begun);
    const auto take = [&](const std::string& name, std::vector<float>& flat) {
      const TensorBytes& stored = file.at(name);
      if (stored.type != ElementType::f32 || stored.bytes.size() != flat.size() * sizeof(float))
        throw DataError(
            "'{}' is of a model with other dimensions than the config's: --resume needs the config "
            "it began with",
            path);
      std::memcpy(flat.data(), stored.bytes.data(), stored.bytes.size());
    };
    if (!average.empty()) take("average", average);
    take("first_moment", optimizer.first);
    take("parameters", values);
    take("second_moment", optimizer.second);
    const auto attribute = [&](const std::string& name) {
      const auto found = file.metadata().find(name);
      if (found == file.metadata().end())
        throw DataError("'{}' does not say its {}: it is no state of a training", path, name);
      return std::strtod(found->second.c_str(), nullptr);
    };
    optimizer.steps = static_cast<std::int64_t>(attribute("step"));
    seconds = attribute("seconds");
  }
};

}  // namespace

Uniforms uniforms(std::uint64_t seed, std::uint64_t stream, std::int64_t step,
                  std::int64_t canvas) {
  Site site{stream, 0, Purpose::train, static_cast<std::uint32_t>(step),
            static_cast<std::uint32_t>(canvas)};
  return [seed, site]() mutable {
    const double u = SampledChance::uniform(seed, site);
    site.position++;
    return u;
  };
}

std::string short_number(double value) {
  std::ostringstream text;
  text.precision(4);
  text << value;
  return text.str();
}

namespace {

// One run of the loop.
class Run {
 public:
  Run(const Training& training, const TrainingOptions& options, const TrainContext& context)
      : training_(training),
        options_(options),
        context_(context),
        state_(training.parameters, options),
        begun_with_(begun_with(training, context)),
        state_file_(context.out + "/" + kStateFile) {
    if (context.resume && std::filesystem::exists(state_file_))
      state_.read(state_file_, begun_with_);
    curves_.emplace(context.out + "/curves.h5", made_by(context), context.resume);
    curves_->forget_after(state_.step());
    clock_.before = state_.seconds;
    say(training.name + ": " + std::to_string(state_.values.size()) + " parameters, " +
        training.data +
        (state_.step() > 0 ? "; goes on at step " + std::to_string(state_.step()) : ""));
  }

  // Steps until the end, the time limit or a signal, and saves.
  void go() {
    begun_ = saved_ = logged_ = clock_.seconds();
    {
      Progress progress("training", "steps", options_.steps, state_.step());
      while (goes_on()) {
        step();
        if (state_.step() % options_.log_every == 0) log(progress);
        if (state_.step() % options_.validate_every == 0 || state_.step() == options_.steps)
          validate(progress);
        if ((options_.save_every > 0 && state_.step() % options_.save_every == 0) ||
            clock_.seconds() - saved_ > 60 * options_.save_minutes)
          save();
      }
    }
    save();
  }
  std::int64_t steps() const { return state_.step(); }

 private:
  static Provenance made_by(const TrainContext& context) {
    Provenance made = provenance(context.machine, static_cast<std::int64_t>(context.seed));
    made.title = context.config.title();
    return made;
  }
  bool goes_on() const {
    return state_.step() < options_.steps && !signal_caught &&
           (options_.minutes == 0 || clock_.seconds() - begun_ < 60 * options_.minutes);
  }
  void step() {
    std::fill(state_.gradient.begin(), state_.gradient.end(), 0.0f);
    const StepResult result = training_.gradient(state_.step());
    loss_ += result.loss;
    if (!std::isfinite(loss_))
      throw DataError(
          "the training loss is no number any more at step {}: lower trainer.{}.rate; {} holds the "
          "last checkpoint",
          state_.step(), training_.name, context_.out);
    const RateSchedule rates{options_.rate, options_.floor, options_.warmup, options_.steps};
    row_.learning_rate = rates.rate(state_.step());
    row_.grad_norm = clip(state_.gradient, options_.clip);
    state_.optimizer.step(state_.values, state_.gradient, row_.learning_rate);
    state_.follow(options_.average);
    masked_ += result.mask_rate;
    tokens_ += result.tokens;
    ++since_;
  }
  // Adds a row of the curve: the means of the steps since the last one.
  void log(Progress& progress) {
    row_.step = state_.step();
    row_.seconds = clock_.seconds();
    row_.loss = loss_ / static_cast<double>(since_);
    row_.mask_rate = masked_ / static_cast<double>(since_);
    row_.tokens_per_second = tokens_ / (row_.seconds - logged_);
    curves_->add(row_);
    progress.at(row_.step, "loss " + short_number(row_.loss) + ", " +
                               std::to_string(std::llround(row_.tokens_per_second)) + " tokens/s");
    logged_ = row_.seconds;
    loss_ = masked_ = tokens_ = 0;
    since_ = 0;
  }
  void validate(Progress& progress) {
    ValidationRow row;
    std::string line;
    state_.averaged([&] {
      if (training_.decodes && context_.generate) {
        training_.save(context_.out);
        row = context_.generate(context_.out);
      }
      line = training_.validate(row);
    });
    row.step = state_.step();
    row.seconds = clock_.seconds();
    curves_->add(row);
    progress.clear();
    say("step " + std::to_string(row.step) + ", " + duration(row.seconds) + ": " + line);
    logged_ = clock_.seconds();
    tokens_ = 0;
  }
  void save() {
    state_.seconds = clock_.seconds();
    curves_->flush();
    state_.averaged([&] { training_.save(context_.out); });
    // It is written last, so that the state is never newer than the network it belongs to.
    state_.write(state_file_, begun_with_);
    saved_ = clock_.seconds();
  }

  const Training& training_;
  const TrainingOptions& options_;
  const TrainContext& context_;
  State state_;
  const std::map<std::string, std::string> begun_with_;
  const std::string state_file_;
  std::optional<CurveWriter> curves_;
  Stopwatch clock_;
  // When the run began, saved last, and logged last.
  double begun_ = 0, saved_ = 0, logged_ = 0;
  // Sums over the steps since the last row of the curve, and that row.
  double loss_ = 0, masked_ = 0, tokens_ = 0;
  std::int64_t since_ = 0;
  CurveRow row_;
};

}  // namespace

void run_training(const Training& training, const TrainingOptions& o, const TrainContext& context) {
  // Activations are large and short-lived, so their pages are kept instead of given back to the
  // kernel after each step.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2000000000);
  use_threads(context.machine.threads);
  Run run(training, o, context);
  signal_caught = 0;
  const auto on_term = std::signal(SIGTERM, note), on_int = std::signal(SIGINT, note);
  run.go();
  std::signal(SIGTERM, on_term);
  std::signal(SIGINT, on_int);
  if (run.steps() >= o.steps)
    return say("finished: " + context.out + " holds the checkpoint and its curves");
  say("stopped at step " + std::to_string(run.steps()) + " of " + std::to_string(o.steps) +
      ", saved; the same command with --resume goes on");
  if (signal_caught) std::raise(signal_caught);
}

}  // namespace draftlab
