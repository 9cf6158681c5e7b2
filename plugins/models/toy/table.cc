// An exact toy: a joint distribution small enough to be written down, and four ways in which a
// model's conditionals depend on what it sees. Each hides faults of a decoder that another shows,
// so negative controls name the kind that catches them:
//   - joint: the conditionals are those of one joint; they are consistent, and blind to order, view
//     and prompt.
//   - ordered: they depend on the prompt set and on the order of what was generated, as an AS-ARM's
//     do.
//   - views: bidirectional answers see the whole block and differ from causal ones, as a
//     block-diffusion model's do.
//   - sets: they depend on the visible set and on no joint, as a masked-diffusion model's do.
// Several positions asked in the causal view are answered as prediction heads answer them: each
// knows what is committed, and none knows the others. A shallow question (early exit) is answered
// from a second joint. The last three kinds perturb the joint's conditionals:
//   log p = log p_joint + noise * normal(key),
// where the key is what the conditional depends on. `cache` and `commit` say what a block-diffusion
// model's cache of finished blocks does to both answers and costs.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/base/words.h"
#include "core/config/plugin.h"
#include "core/model/model.h"
#include "core/prob/chance.h"
#include "plugins/models/toy/joint_table.h"

namespace draftlab {
namespace {

// Pairs (position, token).
using Known = std::vector<std::pair<std::int32_t, Token>>;

// What conditionals depend on.
enum class TableKind { joint, ordered, views, sets };
constexpr std::array<std::string_view, 4> words(TableKind) {
  return {"joint", "ordered", "views", "sets"};
}

// What finished blocks are cached with.
enum class TableCache { causal, prompt, block };
constexpr std::array<std::string_view, 3> words(TableCache) {
  return {"causal", "prompt", "block"};
}

// The forwards that are counted for a cache.
enum class CountedCommits { none, ride, separate };
constexpr std::array<std::string_view, 3> words(CountedCommits) {
  return {"none", "ride", "separate"};
}

class Table final : public Model {
 public:
  struct Options : JointTableOptions {
    TableKind kind = TableKind::ordered;
    std::int64_t end = -1;
    double noise = 0.8;
    bool promote = false, shifted = false;
    TableCache cache = TableCache::causal;
    CountedCommits commit = CountedCommits::none;
    void declare(OptionSet& set) {
      set.add("kind", &kind).help("Kind of table: what its conditionals depend on.");
      JointTableOptions::declare(set);
      set.add("noise", &noise)
          .in(0, 10)
          .help("How far the conditionals stray from the joint's, in nats; joint has none.");
      set.add("cache", &cache)
          .help(
              "Kind views: finished blocks are cached causally; or the prompt's, or all, with a "
              "view of their whole block, which changes every later answer.");
      set.add("commit", &commit)
          .help(
              "Forwards counted for a cache: none; one for the prompt's blocks, generated ones "
              "riding on later forwards; one a block too.");
      set.add("shifted", &shifted)
          .help(
              "As right-shifted models do, answer the next position along with a forward for the "
              "cache.");
      set.add("end", &end).in(-1, 7).help("The token that ends a text; -1: none does.");
      set.add("promote", &promote)
          .help(
              "Answer draft questions as if generated tokens were prompt; a drafter that then "
              "takes "
              "its first draft for the target's own draw (Lemma 1) errs.");
    }
  };
  explicit Table(const Options& options) : options_(options) { options_.check("table"); }

  void load(const Machine&) override {
    joint_.emplace(options_, 0);
    shallow_.emplace(options_, 1, false);
  }

  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = static_cast<int>(options_.vocabulary);
    facts.longest = static_cast<int>(options_.length);
    if (options_.end >= 0) facts.stops = {static_cast<Token>(options_.end)};
    facts.family = "table";
    facts.parameters = static_cast<std::int64_t>(joint_->cells());
    return facts;
  }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override {
    if (canvas.length() != options_.length)
      throw ConfigError(
          "the prompt's canvas has {} positions, but model.table.length is {}; they must be equal",
          canvas.length(), options_.length);
    for (const Token token : canvas.tokens()) {
      if (token < options_.vocabulary) continue;
      throw ConfigError("the prompt holds token {}, but model.table.vocabulary is {}", token,
                        options_.vocabulary);
    }
    return std::make_unique<Cached>(canvas, blocks);
  }

  std::optional<Question> due(const Sequence& sequence) const override {
    const auto& cached = static_cast<const Cached&>(sequence);
    const std::int32_t ready = cacheable(cached);
    if (ready == cached.until) return std::nullopt;
    Question question{.kind = of_prompt(cached) ? Kind::prefill : Kind::commit,
                      .view = View::causal,
                      .nodes = {},
                      .asks = {}};
    if (options_.shifted && ready < cached.canvas.length() && cached.canvas.masked(ready))
      question.asks.push_back({kRoot, {ready}});
    return question;
  }

  bool rows_are_independent() const override { return true; }
  bool mixes() const override { return true; }

 private:
  // What a block-diffusion model would have cached: whole blocks, from the left.
  struct Cached final : Sequence {
    Cached(const Canvas& its, const Blocks& cut) : Sequence(its), blocks(cut) {}
    const Blocks blocks;
    std::int32_t until = 0;
    std::int32_t end(std::int32_t position) const { return blocks.end(position, canvas.length()); }
  };

  static bool all_given(const Cached& cached, std::int32_t first) {
    for (std::int32_t i = first; i < cached.end(first); ++i)
      if (!cached.canvas.given(i)) return false;
    return true;
  }
  static bool of_prompt(const Cached& cached) { return cached.until == 0 && all_given(cached, 0); }

  // Returns how far the next forward for the cache would take it: over all blocks that are only
  // prompt in one forward, then block by block.
  std::int32_t cacheable(const Cached& cached) const {
    const int length = cached.canvas.length();
    std::int32_t until = cached.until;
    if (options_.commit == CountedCommits::none || until == length) return until;
    if (of_prompt(cached)) {
      while (until < length && all_given(cached, until)) until = cached.end(until);
      return until;
    }
    if (options_.commit == CountedCommits::ride) return until;
    for (std::int32_t i = until; i < cached.end(until); ++i)
      if (cached.canvas.masked(i) || cached.canvas.tentative(i)) return until;
    return cached.end(until);
  }

  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch) {
      const Question& question = *pending.question;
      auto& cached = static_cast<Cached&>(*pending.sequence);
      pending.positions = static_cast<std::int64_t>(question.nodes.size());
      for (const Ask& ask : question.asks) {
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position,
                              conditional(cached, question, ask.node, position));
        pending.positions += static_cast<std::int64_t>(ask.positions.size());
      }
      if (question.view == View::causal && !question.nodes.empty())
        pending.rows = question.leaves();
      if (question.form() == Form::branches)
        pending.rows = static_cast<std::int64_t>(question.asks.size());
      if (question.kind == Kind::prefill || question.kind == Kind::commit) {
        const std::int32_t ready = cacheable(cached);
        pending.positions += ready - cached.until;
        cached.until = ready;
      }
    }
  }

  const Distribution& conditional(const Cached& cached, const Question& question, int node,
                                  std::int32_t position) {
    const Canvas& canvas = cached.canvas;
    Known given, generated;
    for (std::int32_t i = 0; i < canvas.length(); ++i)
      if (canvas.given(i)) given.emplace_back(i, canvas.token(i));
    for (const std::int32_t i : canvas.order()) generated.emplace_back(i, canvas.token(i));
    const auto drafted = generated.size();
    for (int at = node; at != kRoot; at = question.nodes[at].parent)
      generated.emplace(generated.begin() + static_cast<std::ptrdiff_t>(drafted),
                        question.nodes[at].position, question.nodes[at].token);

    // The key of a position that holds a token, tentative or drafted, contains that token; it is
    // answered as if it were masked.
    const bool open = canvas.tentative(position) || canvas.masked(position);
    if (options_.kind == TableKind::ordered &&
        !(options_.promote && question.kind == Kind::draft)) {
      std::string key = "ordered";
      for (const auto& [i, token] : given) add(key, i, token);
      key += " then";
      for (const auto& [i, token] : generated) add(key, i, token);
      if (open)
        std::erase_if(generated, [&](const auto& known) { return known.first == position; });
      given.insert(given.end(), generated.begin(), generated.end());
      return answer(std::move(key), position, given, question.shallow);
    }
    // The other kinds see a set: the prompt and what was generated, in the order of positions, up
    // to a horizon.
    std::map<std::int32_t, Token> seen(given.begin(), given.end());
    seen.insert(generated.begin(), generated.end());
    std::string key = "set";
    if (options_.kind == TableKind::views) {
      const std::int32_t first = cached.blocks.first(position), end = cached.end(position);
      // A block of one position has no other position to see.
      const bool causal = question.view == View::causal || end - first == 1;
      seen.erase(seen.lower_bound(causal ? position : end), seen.end());
      key = causal ? "causal" : "set";
      if (first > 0 && cached.blocks.size > 1 &&
          (options_.cache == TableCache::block ||
           (options_.cache == TableCache::prompt && all_given(cached, 0))))
        key += " on " + std::string(word(options_.cache));
    }
    for (const auto& [i, token] : seen) add(key, i, token);
    if (open) seen.erase(position);
    return answer(std::move(key), position, Known(seen.begin(), seen.end()), question.shallow);
  }

  static void add(std::string& key, std::int32_t position, Token token) {
    key.append(" ").append(std::to_string(position));
    key.append(":").append(std::to_string(token));
  }

  // The conditional of `position` under the joint given what is seen, perturbed by what the key
  // says.
  const Distribution& answer(std::string key, std::int32_t position, const Known& seen,
                             bool shallow) {
    key += (shallow ? " shallow of " : " of ") + std::to_string(position);
    Distribution& answer = answers_[key];
    if (!answer.empty()) return answer;

    std::vector<Token> fixed(static_cast<std::size_t>(options_.length), kNoToken);
    for (const auto& [i, token] : seen) fixed[i] = token;
    if (fixed[position] != kNoToken)
      throw Fault("position {} was asked, but it is not masked there", position);
    Eigen::ArrayXd weights(options_.vocabulary);
    SampledChance chance(static_cast<std::uint64_t>(options_.seed));
    for (Token token = 0; token < options_.vocabulary; ++token) {
      fixed[position] = token;
      weights[token] = (shallow ? *shallow_ : *joint_).sum(fixed);
      if (options_.kind != TableKind::joint)
        weights[token] *= std::exp(options_.noise * chance.normal({.sequence = stable_hash(key),
                                                                   .position = token,
                                                                   .purpose = Purpose::train}));
    }
    return answer = Distribution(std::move(weights));
  }

  Options options_;
  std::optional<JointTable> joint_, shallow_;
  std::unordered_map<std::string, Distribution> answers_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(model, table) {
  using draftlab::Form;
  registries.models.add<draftlab::Table>(
      "table", "an exact toy of at most 8 tokens and 8 positions, for certificates",
      {Form::committed, Form::chain, Form::branches, Form::shallow});
}
