// An exact toy of a model that reads a random canvas: a joint law small enough to be written down,
// and texts of it of which each token was replaced by a uniform draw with probability `level`. What
// is given, committed or drafted is the truth; what masked positions show is such a noisy text. A
// position is answered by its posterior, for which all texts are enumerated. At level 1 the canvas
// tells nothing, and the answers are those of model `table` of kind `joint`.
#include <optional>
#include <string>
#include <unordered_map>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/model/model.h"
#include "plugins/models/toy/joint_table.h"

namespace draftlab {
namespace {

class NoisyTable final : public Model {
 public:
  struct Options : JointTableOptions {
    double level = 0.5;
    void declare(OptionSet& set) {
      JointTableOptions::declare(set);
      set.add("level", &level)
          .in(0.001, 1)
          .help("Probability that what a masked position shows is a uniform draw, not its token.");
    }
  };
  explicit NoisyTable(const Options& options) : options_(options) { options_.check("noisy-table"); }

  void load(const Machine&) override { joint_.emplace(options_, 0); }

  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = static_cast<int>(options_.vocabulary);
    facts.longest = static_cast<int>(options_.length);
    facts.random_canvas = true;
    facts.family = "noisy-table";
    facts.parameters = static_cast<std::int64_t>(joint_->cells());
    return facts;
  }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    if (canvas.length() != options_.length)
      throw ConfigError(
          "the prompt's canvas has {} positions, but model.noisy-table.length is {}; they must be "
          "equal",
          canvas.length(), options_.length);
    for (const Token token : canvas.tokens())
      if (token >= options_.vocabulary)
        throw ConfigError("the prompt holds token {}, but model.noisy-table.vocabulary is {}",
                          token, options_.vocabulary);
    return std::make_unique<Sequence>(canvas);
  }

  bool rows_are_independent() const override { return true; }
  bool mixes() const override { return true; }

 private:
  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch) {
      const Question& question = *pending.question;
      const Canvas& canvas = pending.sequence->canvas;
      pending.rows = static_cast<std::int64_t>(question.asks.size());
      pending.positions = pending.rows * canvas.length();
      for (const Ask& ask : question.asks) {
        std::vector<Token> known = canvas.tokens();
        for (int node = ask.node; node != kRoot; node = question.nodes[node].parent)
          known[question.nodes[node].position] = question.nodes[node].token;
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position, posterior(canvas, known, position));
      }
    }
  }

  // A position that is asked is not known, whatever it holds.
  Distribution posterior(const Canvas& canvas, std::vector<Token> known, std::int32_t position) {
    known[position] = kNoToken;
    std::string key = std::to_string(position);
    for (std::int32_t i = 0; i < canvas.length(); ++i)
      key += known[i] != kNoToken ? " " + std::to_string(known[i])
                                  : " ?" + std::to_string(canvas.shown(i));
    Distribution& answer = answers_[key];
    if (!answer.empty()) return answer;
    const double noise = options_.level / static_cast<double>(options_.vocabulary);
    Eigen::ArrayXd weights(options_.vocabulary);
    for (Token token = 0; token < options_.vocabulary; ++token)
      weights[token] = joint_->weighted([&](std::int32_t i, Token its) {
        if (i == position && its != token) return 0.0;
        if (known[i] != kNoToken) return its == known[i] ? 1.0 : 0.0;
        return noise + (its == canvas.shown(i) ? 1 - options_.level : 0.0);
      });
    return answer = Distribution(std::move(weights));
  }

  Options options_;
  std::optional<JointTable> joint_;
  std::unordered_map<std::string, Distribution> answers_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(model, noisy_table) {
  using draftlab::Form;
  registries.models.add<draftlab::NoisyTable>(
      "noisy-table",
      "an exact toy that reads a random canvas: the posterior given a noisy text, for certificates",
      {Form::committed, Form::branches});
}
