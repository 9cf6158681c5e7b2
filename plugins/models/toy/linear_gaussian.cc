// An exact toy of vector tokens: an autoregressive chain whose joint mean and covariance are known.
// The mean of a token is linear in the one committed before it, wherever that lies,
//   m = mu_class + shift + coupling P (y_before - mu_class),
// where P rotates the coordinates by one place. K linear reverse steps draw it from a standard
// normal y_K:
//   y_{t-1} = gain_t y_t + m / W + sigma_t e_t,
// with W such that the mean of y_0 is m. The last step may have two components, `apart` on both
// sides of it. Another shift makes a draft that differs, and other sigmas make one with variances
// of its own. What a step is told of the token y_0, beside what the schedule keeps of y_t, is m / W
// and a share of gain_t y_t: a shallow reverse question goes on with what the first state tells.
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/model/model.h"
#include "plugins/models/toy/known_joint.h"

namespace draftlab {
namespace {

// The view in which drafted tokens are asked.
enum class AskedIn { causal, bidirectional };
constexpr std::array<std::string_view, 2> words(AskedIn) { return {"causal", "bidirectional"}; }

class LinearGaussian final : public Model, public KnownJoint {
 public:
  struct Options {
    std::int64_t dimension = 2, classes = 2;
    std::vector<double> gains = {0.5, 0.5, 0.5}, sigmas = {0.9, 0.7, 0.5};
    double coupling = 0.6, shift = 0, apart = 0, guessed = 0;
    AskedIn view = AskedIn::causal;
    void declare(OptionSet& set) {
      set.add("dimension", &dimension).in(1, 256).help("Coordinates of a token.");
      set.add("classes", &classes)
          .in(1, 1e6)
          .help("Classes, one of which position 0 holds; this number itself stands for none.");
      set.add("gains", &gains)
          .in(-100, 100)
          .help(
              "What each reverse step keeps of the state before it, the last step last; as many as "
              "there are steps.");
      set.add("sigmas", &sigmas)
          .in(0, 100)
          .help("Standard deviation of each reverse step, the last step last.");
      set.add("coupling", &coupling)
          .in(-10, 10)
          .help("How a token's mean depends on the one before it.");
      set.add("shift", &shift).in(-100, 100).help("Added to every coordinate of a token's mean.");
      set.add("apart", &apart)
          .in(0, 100)
          .help(
              "The last step draws from two components, so far to both sides of its mean in every "
              "coordinate; 0: from one.");
      set.add("guessed", &guessed)
          .in(0, 1)
          .help(
              "Share of the kept state of a reverse step that the head predicts and the schedule "
              "does not fix; shallow laws, whose head saw another state, are wrong by it.");
      set.add("view", &view)
          .help(
              "Questions that it answers about drafted tokens: chains, in one row; or branches, in "
              "a row each.");
    }
  };
  explicit LinearGaussian(const Options& options)
      : options_(options), steps_(static_cast<int>(options.gains.size())) {
    if (options.gains.empty() || options.sigmas.size() != options.gains.size())
      throw ConfigError("gains has {} numbers and sigmas {}; both must have one a reverse step",
                        options.gains.size(), options.sigmas.size());
    double passed = 1;
    for (int t = 1; t <= steps_; ++t) weight_ += passed, passed *= gain(t);
    if (!(std::abs(weight_) > 1e-9))
      throw ConfigError("these gains cancel what the steps add to the mean");
  }

  void load(const Machine&) override {}

  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = static_cast<int>(options_.classes);
    facts.family = "linear-gaussian";
    facts.dimension = static_cast<int>(options_.dimension);
    facts.reverse_steps = steps_;
    facts.view = options_.view == AskedIn::causal ? View::causal : View::bidirectional;
    return facts;
  }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    if (canvas.length() < 2 || !canvas.given(0) || canvas.prompt_size() != 1)
      throw ConfigError(
          "model 'linear-gaussian' wants a class at position 0 of the prompt and nothing else, "
          "since the other tokens are vectors");
    if (canvas.token(0) > options_.classes)
      throw ConfigError(
          "the prompt gives class {}, which must be at most model.linear-gaussian.classes = {} (no "
          "class)",
          canvas.token(0), options_.classes);
    return std::make_unique<Sequence>(canvas);
  }

  bool rows_are_independent() const override { return true; }

  // The mean and the covariance of y_0 given its mean m are m and v I + apart^2 1 1'.
  JointMoments joint(Token of_class, int tokens, double temperature) const override {
    const auto d = static_cast<Eigen::Index>(options_.dimension);
    double variance = 0, passed = 1;
    for (int t = 1; t <= steps_; ++t)
      variance += std::pow(passed * temperature * sigma(t), 2), passed *= gain(t);
    variance += passed * passed;
    Eigen::MatrixXd own = Eigen::MatrixXd::Constant(d, d, options_.apart * options_.apart),
                    turn = Eigen::MatrixXd::Zero(d, d);
    own.diagonal().array() += variance;
    for (Eigen::Index j = 0; j < d; ++j) turn(j, (j + 1) % d) = options_.coupling;

    JointMoments joint{Eigen::VectorXd(tokens * d), Eigen::MatrixXd(tokens * d, tokens * d)};
    Eigen::VectorXd mean = center(of_class);
    Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(d, d);
    for (Eigen::Index n = 0; n < tokens; ++n) {
      mean = n == 0 ? expected(of_class, {}) : expected(of_class, mean);
      covariance = turn * covariance * turn.transpose() + own;
      joint.mean.segment(n * d, d) = mean;
      Eigen::MatrixXd with = covariance;
      for (Eigen::Index m = n; m < tokens; ++m, with = turn * with) {
        joint.covariance.block(m * d, n * d, d, d) = with;
        joint.covariance.block(n * d, m * d, d, d) = with.transpose();
      }
    }
    return joint;
  }

 private:
  double gain(int t) const { return options_.gains[static_cast<std::size_t>(steps_ - t)]; }
  double sigma(int t) const { return options_.sigmas[static_cast<std::size_t>(steps_ - t)]; }

  Eigen::VectorXd center(Token of_class) const {
    if (of_class == options_.classes) return Eigen::VectorXd::Zero(options_.dimension);
    return Eigen::VectorXd::LinSpaced(options_.dimension, 0,
                                      0.5 * static_cast<double>(options_.dimension - 1))
               .array() +
           of_class;
  }

  // Returns the mean of a token that follows `before`, or of the first token where `before` is
  // empty.
  Eigen::VectorXd expected(Token of_class, const Eigen::VectorXd& before) const {
    const Eigen::VectorXd mu = center(of_class);
    Eigen::VectorXd mean = mu.array() + options_.shift;
    if (before.size() == 0) return mean;
    const Eigen::Index d = mu.size();
    for (Eigen::Index j = 0; j < d; ++j)
      mean[j] += options_.coupling * (before[(j + 1) % d] - mu[(j + 1) % d]);
    return mean;
  }

  // Returns what the head tells at a state.
  Eigen::VectorXd told(const Reverse& at) const {
    return at.condition / weight_ + options_.guessed * gain(at.step) * at.state;
  }
  Mixture law(const Reverse& reverse, const Eigen::VectorXd& told) const {
    const Eigen::ArrayXd mean = (1 - options_.guessed) * gain(reverse.step) * reverse.state + told;
    const Eigen::ArrayXd deviation = Eigen::ArrayXd::Constant(mean.size(), sigma(reverse.step));
    if (options_.apart == 0 || reverse.step > 1) return Mixture::normal(mean, deviation);
    return {Eigen::ArrayXd::Constant(2, 0.5),
            {mean - options_.apart, mean + options_.apart},
            {deviation, deviation}};
  }

  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch) {
      const Question& question = *pending.question;
      const Canvas& canvas = pending.sequence->canvas;
      for (const Reverse& reverse : question.reverse)
        pending.answer->laws.push_back(
            law(reverse, told(question.shallow ? question.reverse.front() : reverse)));
      pending.positions =
          static_cast<std::int64_t>(question.reverse.size() + question.nodes.size());
      for (const Ask& ask : question.asks) {
        const bool first = ask.node == kRoot && canvas.order().empty();
        const Eigen::VectorXd before = first               ? Eigen::VectorXd()
                                       : ask.node == kRoot ? canvas.value(canvas.order().back())
                                                           : question.nodes[ask.node].value;
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position, expected(canvas.token(0), before));
        pending.positions += static_cast<std::int64_t>(ask.positions.size());
      }
      const Form form = question.form();
      pending.rows = form == Form::reverse    ? pending.positions
                     : form == Form::branches ? static_cast<std::int64_t>(question.asks.size())
                                              : std::max(1, question.leaves());
    }
  }

  Options options_;
  int steps_;
  double weight_ = 0;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(model, linear_gaussian) {
  using draftlab::Form;
  registries.models.add<draftlab::LinearGaussian>(
      "linear-gaussian", "an exact toy of vector tokens with a known joint law, for certificates",
      {Form::committed, Form::chain, Form::branches, Form::reverse});
}
