// The model `mar` on libtorch: the states of all questions of a batch go through the backbone
// together, and all reverse steps through the head.
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/words.h"
#include "plugins/models/mar/diffusion_head_rows_torch.h"
#include "plugins/models/mar/mar.h"
#include "plugins/models/mar/mar_sequence_torch.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/kernels/machine_torch.h"

namespace draftlab {
namespace {

// The most states and reverse steps that go through the network together.
constexpr std::size_t kManyStates = 64, kManySteps = 4096;

class BidirectionalSequence final : public Sequence {
 public:
  using Sequence::Sequence;
};

class MarModel final : public Model {
 public:
  explicit MarModel(const MarOptions& options) : options_(options) {
    if (options_.checkpoint.empty())
      throw ConfigError(
          "model.checkpoint must name a folder with config.json and model.safetensors");
  }

  void load(const Machine& machine) override {
    const std::optional<at::Device> tensors = tensor_device(machine);
    own_kernels_ = !tensors;
    use_threads(machine.threads);
    const at::NoGradGuard no_grad;
    const Precision precision = precision_of(options_.dtype, machine);
    const Mar net = Mar::load(options_.checkpoint);
    config_ = net.config;
    if (options_.variance != ReverseVariance::checkpoint)
      config_.variance = variance_of(std::string(word(options_.variance)));
    if (config_.variance == Variance::learned && net.config.variance != Variance::learned)
      throw ConfigError("model.mar.variance = learned, but the head of {} tells none",
                        options_.checkpoint);
    schedule_.emplace(options_.steps == "auto" ? config_.num_sampling_steps : options_.steps);
    rows_.emplace(net, precision, tensors);
    head_.emplace(net.head, schedule_->timesteps, precision, tensors);
    outputs_ = net.config.outputs();

    facts_.vocabulary = static_cast<int>(config_.class_num);
    facts_.longest = static_cast<int>(config_.tokens() + 1);
    facts_.family = "mar";
    facts_.checkpoint = options_.checkpoint;
    facts_.digest = weights_digest(options_.checkpoint);
    for (const auto& [name, tensor] : net.named_parameters) facts_.parameters += tensor.numel();
    facts_.dimension = static_cast<int>(config_.dimension());
    facts_.reverse_steps = schedule_->steps();
    facts_.rounding = unit_roundoff(precision);
    facts_.view = config_.causal ? View::causal : View::bidirectional;
  }

  void compute_with(int threads) override { use_all_threads(threads); }
  ModelFacts facts() const override { return facts_; }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    if (canvas.length() != facts_.longest) {
      throw ConfigError(
          "a canvas of {} positions was opened, but {} has images of a class and {} tokens",
          canvas.length(), options_.checkpoint, config_.tokens());
    }
    if (canvas.masked(0) || canvas.token(0) > config_.class_num) {
      throw ConfigError("position 0 of an image must hold its class, 0 to {}, or {} for none{}",
                        config_.class_num - 1, config_.class_num,
                        canvas.masked(0) ? "" : "; it holds " + std::to_string(canvas.token(0)));
    }
    for (std::int32_t i = 1; i < canvas.length(); ++i) {
      if (!canvas.masked(i) && canvas.value(i).size() != facts_.dimension) {
        throw ConfigError("position {} of the prompt holds no vector of {} numbers", i,
                          facts_.dimension);
      }
    }
    if (!config_.causal) return std::make_unique<BidirectionalSequence>(canvas);
    return std::make_unique<MarCausalSequence>(canvas, config_, rows_->memory_config(), guided());
  }

  bool rows_are_independent() const override { return own_kernels_; }
  bool mixes() const override { return true; }

 protected:
  void evaluate(std::span<Pending> batch) override {
    const at::NoGradGuard no_grad;
    std::vector<Pending*> asking, reversing;
    for (Pending& pending : batch)
      (pending.question->reverse.empty() ? asking : reversing).push_back(&pending);
    for (Pending* const pending : asking)
      pending->layers = config_.decoder_depth + (config_.causal ? 0 : config_.encoder_depth);
    if (config_.causal)
      answer_causal(asking);
    else
      for (std::size_t first = 0; first < asking.size(); first += kManyStates)
        answer_states(
            std::span(asking).subspan(first, std::min(kManyStates, asking.size() - first)));
    reverse(reversing);
  }

 private:
  bool guided() const { return options_.guidance != 1; }

  // Returns what a part gets for an asked position, and hands back with the reverse questions: z,
  // or z of the class, z of no class and the scale.
  Eigen::VectorXd condition(const float* own, const float* none, double known) const {
    const std::int64_t width = rows_->width();
    Eigen::VectorXd out(none ? 2 * width + 1 : width);
    for (std::int64_t j = 0; j < width; ++j) out[j] = own[j];
    if (!none) return out;
    for (std::int64_t j = 0; j < width; ++j) out[width + j] = none[j];
    out[2 * width] = options_.guidance_schedule == GuidanceSchedule::linear
                         ? 1 + (options_.guidance - 1) * known
                         : options_.guidance;
    return out;
  }

  void answer_states(std::span<Pending* const> batch) {
    std::vector<MarState> states;
    std::vector<std::int64_t*> positions;
    std::vector<std::vector<MarAsk>> all;
    for (Pending* const pending : batch) {
      const Canvas& canvas = pending->sequence->canvas;
      all.push_back(mar_asks(canvas, *pending->question, facts_.view));
      pending->positions = 0;
      for (const MarAsk& ask : all.back()) {
        states.push_back(mar_state(canvas, *pending->question, ask));
        if (guided()) {
          states.push_back(states.back());
          states.back().label = static_cast<int>(config_.class_num);
        }
      }
      pending->rows = static_cast<std::int64_t>(all.back().size()) * (guided() ? 2 : 1);
      positions.resize(states.size(), &pending->positions);
    }
    if (states.empty()) return;
    const std::vector<float> conditions = rows_->conditions(states, positions);
    const float* own = conditions.data();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (const MarAsk& ask : all[i]) {
        const auto count = static_cast<std::int64_t>(ask.positions.size());
        const float* const none = guided() ? own + count * rows_->width() : nullptr;
        for (std::int64_t j = 0; j < count; ++j) {
          batch[i]->answer->add(ask.node, ask.positions[j],
                                condition(own + j * rows_->width(),
                                          none ? none + j * rows_->width() : nullptr, ask.known));
        }
        own += count * rows_->width() * (none ? 2 : 1);
      }
    }
  }

  void answer_causal(std::span<Pending* const> batch) {
    std::vector<MarCausalRow> rows;
    std::vector<std::vector<MarAsk>> all(batch.size());
    std::vector<std::vector<std::size_t>> tips(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t before = rows.size();
      all[i] = mar_asks(batch[i]->sequence->canvas, *batch[i]->question, facts_.view);
      if (!all[i].empty())
        tips[i] = static_cast<MarCausalSequence*>(batch[i]->sequence)
                      ->add_rows(*batch[i]->question, all[i], rows);
      batch[i]->rows = std::max(1, batch[i]->question->leaves()) * (guided() ? 2 : 1);
      batch[i]->positions = static_cast<std::int64_t>(rows.size() - before);
    }
    if (rows.empty()) return;
    const std::vector<float> conditions = rows_->conditions(rows);
    const float* own = conditions.data();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto count = static_cast<std::int64_t>(tips[i].size());
      for (std::int64_t j = 0; j < count; ++j) {
        const MarAsk& ask = all[i][tips[i][j]];
        const float* const z = own + j * rows_->width();
        batch[i]->answer->add(
            ask.node, ask.positions.front(),
            condition(z, guided() ? z + count * rows_->width() : nullptr, ask.known));
      }
      own += count * rows_->width() * (guided() ? 2 : 1);
    }
  }

  void reverse(std::span<Pending* const> batch) {
    std::vector<std::pair<Pending*, const Reverse*>> asked;
    const auto flush = [&] {
      if (!asked.empty()) reverse_together(asked);
      asked.clear();
    };
    for (Pending* const pending : batch) {
      std::span<const Reverse> all(pending->question->reverse);
      if (pending->question->shallow) all = all.first(1);
      pending->rows = pending->positions =
          static_cast<std::int64_t>(all.size()) * (guided() ? 2 : 1);
      for (const Reverse& one : all) {
        asked.emplace_back(pending, &one);
        if (asked.size() == kManySteps) flush();
      }
    }
    flush();
  }

  void reverse_together(std::span<const std::pair<Pending*, const Reverse*>> asked) const {
    const std::int64_t width = rows_->width(), dimension = facts_.dimension,
                       heads = guided() ? 2 : 1;
    std::vector<float> x, z;
    std::vector<int> steps;
    for (const auto& [pending, one] : asked) {
      check(*one);
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t j = 0; j < dimension; ++j) x.push_back(static_cast<float>(one->state[j]));
        for (std::int64_t j = 0; j < width; ++j)
          z.push_back(static_cast<float>(one->condition[h * width + j]));
        steps.push_back(one->step - 1);
      }
    }
    const std::vector<float> out = head_->forward(x, z, steps);
    const float* line = out.data();
    for (const auto& [pending, one] : asked) {
      const int step = one->step - 1;
      Eigen::ArrayXd told = Eigen::Map<const Eigen::ArrayXf>(line, dimension).cast<double>();
      if (guided()) {
        const Eigen::ArrayXd none =
            Eigen::Map<const Eigen::ArrayXf>(line + outputs_, dimension).cast<double>();
        told = none + one->condition[2 * width] * (told - none);
      }
      // The variance is the class's, whatever the guidance.
      const Eigen::ArrayXd share =
          config_.variance == Variance::learned
              ? Eigen::ArrayXd(
                    (Eigen::Map<const Eigen::ArrayXf>(line + dimension, dimension).cast<double>() +
                     1) /
                    2)
              : Eigen::ArrayXd::Zero(dimension);
      const Eigen::ArrayXd x0 = schedule_->x0(config_.prediction, told, one->state.array(), step);
      const auto add_law = [&, to = pending](const Reverse& asked_about) {
        const int at = asked_about.step - 1;
        to->answer->laws.push_back(
            Mixture::normal(schedule_->mean(x0, asked_about.state.array(), at),
                            (0.5 * schedule_->log_variance(config_.variance, share, at)).exp()));
      };
      add_law(*one);
      if (pending->question->shallow)
        for (const Reverse& other : std::span(pending->question->reverse).subspan(1)) {
          check(other);
          add_law(other);
        }
      line += heads * outputs_;
    }
  }

  void check(const Reverse& one) const {
    const std::int64_t wanted = guided() ? 2 * rows_->width() + 1 : rows_->width();
    if (one.step < 1 || one.step > facts_.reverse_steps)
      throw Fault("reverse step {} was asked of a mar that has 1 to {}", one.step,
                  facts_.reverse_steps);
    if (one.condition.size() != wanted)
      throw Fault("a condition of {} numbers was handed to a mar whose conditions have {}",
                  one.condition.size(), wanted);
    if (one.state.size() != facts_.dimension)
      throw Fault("a state of {} numbers was handed to a mar of {}", one.state.size(),
                  facts_.dimension);
  }

  MarOptions options_;
  MarConfig config_;
  ModelFacts facts_;
  std::int64_t outputs_ = 0;
  bool own_kernels_ = true;
  std::optional<DiffusionSchedule> schedule_;
  std::optional<MarRows> rows_;
  std::optional<DiffusionHeadRows> head_;
};

}  // namespace
}  // namespace draftlab

draftlab::Model* draftlab_make_mar(const draftlab::MarOptions* options) {
  return new draftlab::MarModel(*options);
}
