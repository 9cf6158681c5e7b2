// A control: a recurrent model whose state is not what it was once drafts were rejected. It reads
// token by token and keeps a snapshot after each; what goes wrong is what it restores. These are
// mistakes that were made in programs which serve such models.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/plugin.h"
#include "core/model/model.h"
#include "core/prob/chance.h"
#include "plugins/models/toy/recurrent_net.h"

namespace draftlab {
namespace {

enum class RollbackMistake { shift, one_too_few, first_value, window };
constexpr std::array<std::string_view, 4> words(RollbackMistake) {
  return {"shift", "one-too-few", "first-value", "window"};
}

class RecurrentMistakes final : public Model {
 public:
  struct Options {
    RollbackMistake mistake = RollbackMistake::shift;
    std::int64_t vocabulary = 2, seed = 7;
    void declare(OptionSet& set) {
      set.add("mistake", &mistake)
          .help(
              "What is wrong after a rejection: the rows before are not taken back; one rejected "
              "token stays in the state; the first layer's value is a rejected token's; the "
              "convolution's inputs are not taken back.");
      set.add("vocabulary", &vocabulary).in(2, 8).help("Tokens.");
      set.add("seed", &seed).in(0, 1e15).help("Seed of the weights, as in model.recurrent.");
    }
  };
  explicit RecurrentMistakes(const Options& options)
      : options_(options),
        net_(options.mistake == RollbackMistake::window ? RecurrentKind::convolution
                                                        : RecurrentKind::delta,
             static_cast<int>(options.vocabulary), static_cast<std::uint64_t>(options.seed)) {}

  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = static_cast<int>(options_.vocabulary);
    facts.family = "recurrent-mistakes";
    facts.parameters = net_.parameters();
    facts.rollback = Rollback::snapshot;
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    if (canvas.length() == 0 || canvas.masked(0))
      throw ConfigError("a recurrent model needs a prompt token at position 0");
    return std::make_unique<Memory>(canvas);
  }
  bool rows_are_independent() const override { return true; }
  bool mixes() const override { return true; }

 private:
  using State = std::array<float, kToyState>;
  // A token that was read, the state after it, and what the logits are made of.
  struct Snapshot {
    Token token;
    State state;
    RecurrentNet::Step step;
  };

  struct Memory final : Sequence {
    using Sequence::Sequence;
    std::vector<Snapshot> line;
    // The state that goes on; after a rejection it may not be that of the line's last token.
    State now{};
    // The value of the first layer that a rejected token left; the next token takes it.
    std::optional<double> first;

    // The answers depend on what was rejected, and a certificate has to know.
    std::string state() const override {
      std::uint64_t hash = first ? hashed(&*first, sizeof *first) : 0;
      hash = hashed(now.data(), sizeof now, hash);
      for (const Snapshot& one : line) {
        hash = hashed(one.state.data(), sizeof one.state, hash);
        hash = hashed(&one.step.out, sizeof one.step.out, hash);
      }
      return std::to_string(hash);
    }
    static std::uint64_t hashed(const void* bytes, std::size_t size, std::uint64_t seed = 0) {
      return stable_hash({static_cast<const char*>(bytes), size}, seed);
    }
  };

  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch) {
      auto& memory = static_cast<Memory&>(*pending.sequence);
      const Question& question = *pending.question;
      pending.rows = std::max(1, question.leaves());
      for (const Ask& ask : question.asks) {
        const std::vector<Token> text = text_at(question, memory.canvas, ask.node);
        pending.positions += read(memory, text);
        const auto logits = std::make_shared<std::vector<float>>(options_.vocabulary);
        net_.logits(memory.line[text.size() - 1].step, logits->data());
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position,
                              Distribution::from_logits(logits, *logits, kNoToken));
      }
    }
  }

  // The committed tokens and the drafts on the way to a node.
  static std::vector<Token> text_at(const Question& question, const Canvas& canvas, int node) {
    std::vector<Token> text = canvas.tokens(), drafts;
    text.erase(std::find(text.begin(), text.end(), kNoToken), text.end());
    for (int at = node; at != kRoot; at = question.nodes[at].parent)
      drafts.push_back(question.nodes[at].token);
    text.insert(text.end(), drafts.rbegin(), drafts.rend());
    return text;
  }

  // Reads what was not read yet, and goes back before it where the text says something else.
  // Returns the number of tokens that were read.
  std::int64_t read(Memory& memory, const std::vector<Token>& text) const {
    std::size_t same = 0;
    while (same < std::min(text.size(), memory.line.size()) &&
           memory.line[same].token == text[same])
      ++same;
    if (same == text.size()) return 0;
    if (same < memory.line.size()) go_back(memory, same);
    for (std::size_t i = same; i < text.size(); ++i) {
      const double* const first = memory.first ? &*memory.first : nullptr;
      const RecurrentNet::Step step =
          net_.read(text[i], memory.now.data(), memory.now.data(), first);
      memory.first.reset();
      memory.line.push_back({text[i], memory.now, step});
    }
    return static_cast<std::int64_t>(text.size() - same);
  }

  // Goes back to the state after `kept` tokens, with the mistake.
  void go_back(Memory& memory, std::size_t kept) const {
    const State latest = memory.now;
    const Snapshot& rejected = memory.line[kept];
    memory.now = kept > 0 ? memory.line[kept - 1].state : State{};
    switch (options_.mistake) {
      case RollbackMistake::shift: memory.now[0] = latest[0], memory.now[2] = latest[2]; break;
      case RollbackMistake::one_too_few: memory.now = rejected.state; break;
      case RollbackMistake::first_value: memory.first = rejected.step.first; break;
      case RollbackMistake::window: std::copy_n(latest.begin(), 3, memory.now.begin()); break;
    }
    memory.line.resize(kept);
  }

  Options options_;
  RecurrentNet net_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(model, recurrent_mistakes) {
  using draftlab::Form;
  registries.models.add<draftlab::RecurrentMistakes>(
      "recurrent-mistakes", "a control: a recurrent toy that takes its state back wrongly; lossy",
      {Form::committed, Form::chain});
}
