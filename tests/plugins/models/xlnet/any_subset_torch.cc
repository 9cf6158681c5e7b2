// The model any-subset: cached answers equal whole recomputation, and recorded decodes of the
// authors' loop are reproduced.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"
#include "plugins/models/xlnet/any_subset.h"
#include "plugins/models/xlnet/xlnet_torch.h"
#include "tests/plugins/models/recorded_torch.h"
#include "tests/plugins/models/xlnet/small_any_subset_torch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

using small_any_subset::Checkpoint;
using small_any_subset::difference;
using small_any_subset::draft;
using small_any_subset::most_apart;
using small_any_subset::walked_difference;
using testing::ask;

}  // namespace

DOCTEST_TEST_CASE("cached answers equal whole recomputation, whatever is accepted and rejected") {
  const Checkpoint checkpoint;
  const auto cached = checkpoint.model(true), whole = checkpoint.model(false);
  const double largest =
      walked_difference(*cached, *whole, [](const Sequence& sequence, const Sequence& reference) {
        DOCTEST_CHECK(sequence.counts()[Kind::verify].calls ==
                      reference.counts()[Kind::verify].calls);
        DOCTEST_CHECK(sequence.counts()[Kind::verify].rows ==
                      reference.counts()[Kind::verify].rows);
      });
  std::cout << "any-subset: cached answers differ from whole recomputation by at most " << largest
            << "\n";
  DOCTEST_CHECK(largest < most_apart(40));
}

DOCTEST_TEST_CASE("a batch answers what each sequence alone would be answered") {
  const Checkpoint checkpoint;
  const auto model = checkpoint.model(true);
  const std::vector<std::pair<std::int32_t, Token>> first{{0, 1}, {5, 9}}, second{{2, 30}};
  Canvas a(8, first), b(11, second);
  b.commit(0, 12);
  const auto one = model->open(a), other = model->open(b), alone_one = model->open(a),
             alone_other = model->open(b);
  const Question question_a = draft(a, 3), question_b = draft(b, 2);
  Answer answers[2];
  Pending batch[2] = {{one.get(), &question_a, &answers[0]},
                      {other.get(), &question_b, &answers[1]}};
  model->answer(batch);
  DOCTEST_CHECK(difference(question_a, answers[0], ask(*model, *alone_one, question_a)) <
                most_apart(11));
  DOCTEST_CHECK(difference(question_b, answers[1], ask(*model, *alone_other, question_b)) <
                most_apart(11));
  DOCTEST_CHECK(one->counts()[Kind::draft].positions == 2 + 3);  // Prompt rows and queries.
  DOCTEST_CHECK(other->counts()[Kind::draft].positions == 2 + 2);
}

DOCTEST_TEST_CASE("answers do not depend on longer canvases that the process has met") {
  const Checkpoint checkpoint;
  const auto fresh = checkpoint.model(true), experienced = checkpoint.model(true);
  for (const int longer : {70, 301}) {
    const std::vector<std::pair<std::int32_t, Token>> ends{{0, 7}, {longer - 1, 8}};
    Canvas canvas(longer, ends);
    const auto sequence = experienced->open(canvas);
    ask(*experienced, *sequence, draft(canvas, 4));
  }
  const std::vector<std::pair<std::int32_t, Token>> given{{2, 9}, {11, 12}};
  Canvas canvas(23, given);
  const auto here = fresh->open(canvas), there = experienced->open(canvas);
  const Question question = draft(canvas, 21);
  DOCTEST_CHECK(
      difference(question, ask(*fresh, *here, question), ask(*experienced, *there, question)) == 0);
}

DOCTEST_TEST_CASE("each forward computes only the rows that are new") {
  const Checkpoint checkpoint;
  const auto model = checkpoint.model(true);
  const std::vector<std::pair<std::int32_t, Token>> given{{0, 1}, {5, 9}, {6, 11}};
  Canvas canvas(12, given);
  const auto sequence = model->open(canvas);
  const auto positions = [&](const Question& question) {
    const std::int64_t before = sequence->counts()[question.kind].positions;
    ask(*model, *sequence, question);
    return sequence->counts()[question.kind].positions - before;
  };
  DOCTEST_CHECK(positions(draft(canvas, 4)) == 3 + 4);  // The prompt is computed once.
  const Question verify{.kind = Kind::verify,
                        .view = View::causal,
                        .nodes = {{kRoot, 1, 20}, {0, 2, 21}, {1, 3, 22}},
                        .asks = {{0, {2}}, {1, {3}}, {2, {4}}}};
  DOCTEST_CHECK(positions(verify) == 3 + 3);  // K - 1 content rows and k - 1 query rows.
  canvas.commit(1, 20);
  canvas.commit(2, 21);
  canvas.commit(3, 30);                                 // The draft at this position was 22.
  DOCTEST_CHECK(positions(draft(canvas, 4)) == 1 + 4);  // Two drafts were kept.
}

DOCTEST_TEST_CASE("bf16 weights and weights of eight and four bits change answers a little") {
  const Checkpoint checkpoint;
  const auto exact = checkpoint.model(true);
  const std::vector<std::pair<std::int32_t, Token>> given{{0, 1}, {5, 9}, {6, 11}};
  const Canvas canvas(12, given);
  const Question question = draft(canvas, 5);
  for (const auto& [dtype, most] : {std::pair(Precision::bf16, 1.0), std::pair(Precision::q8, 0.5),
                                    std::pair(Precision::q4, 3.0)}) {
    DOCTEST_INFO(word(dtype));
    const auto rounded = checkpoint.model(true, dtype);
    const double changed = difference(question, ask(*exact, *exact->open(canvas), question),
                                      ask(*rounded, *rounded->open(canvas), question));
    DOCTEST_CHECK(changed > 1e-4);
    DOCTEST_CHECK(changed < most);
  }
  DOCTEST_CHECK_THROWS_AS(checkpoint.model(false, Precision::q8), ConfigError);
}

DOCTEST_TEST_CASE("what any-subset cannot answer is refused") {
  const Checkpoint checkpoint;
  const auto model = checkpoint.model(true);
  const std::vector<std::pair<std::int32_t, Token>> none, large{{0, 37}};
  const Canvas empty(5, none), outside(5, large);
  DOCTEST_CHECK_THROWS_AS(model->open(empty), ConfigError);
  DOCTEST_CHECK_THROWS_AS(model->open(outside), ConfigError);
  AnySubsetOptions options;
  DOCTEST_CHECK_THROWS_AS(draftlab_make_any_subset(&options), ConfigError);
  options.random = "12x768";
  std::unique_ptr<Model> bad(draftlab_make_any_subset(&options));
  DOCTEST_CHECK_THROWS_AS(bad->load({}), ConfigError);
}

namespace {

// `distribution` with the mask token's probability set to zero and nothing else changed: not a
// distribution any more. The authors' loop computes with these, ours with the normalised ones,
// which differ where two masses of the mask token do; so here the model leaves the mask token in,
// and acceptance and draws are done as theirs.
Eigen::ArrayXd without_mask(const Distribution& distribution, Token mask) {
  Eigen::ArrayXd weights = distribution.probabilities();
  weights[mask] = 0;
  return weights;
}

class AuthorsAcceptance final : public Acceptance {
 public:
  struct Options {
    std::int64_t mask = 6;
    void declare(OptionSet& set) { set.add("mask", &mask); }
  };
  explicit AuthorsAcceptance(const Options& options) : mask_(static_cast<Token>(options.mask)) {}
  double probability(const Trial& trial) const override {
    return std::min(
        1.0, trial.target.probability(trial.token) / trial.drawn_from->probability(trial.token));
  }
  Distribution replacement(const Trial& trial) const override {
    return Distribution(
        (without_mask(trial.target, mask_) - without_mask(*trial.drawn_from, mask_)).max(0.0));
  }

 private:
  Token mask_;
};

// Hands out a recorded stream of uniforms in the order in which the authors' loop draws them. Two
// habits of that loop matter: self-drafting draws an acceptance uniform for the first draft too,
// though nothing depends on it; and n-gram tables are indexed in the order in which their entries
// were first seen.
class Recorded final : public Chance {
 public:
  Recorded(std::vector<double> uniforms, Token mask, bool ngram)
      : uniforms_(std::move(uniforms)), mask_(mask), ngram_(ngram) {}
  void watch(const Canvas& canvas) { canvas_ = &canvas; }
  std::size_t used() const { return used_; }

 private:
  double next() {
    if (used_ == uniforms_.size()) throw Fault("the recorded stream is used up");
    return uniforms_[used_++];
  }

  Token read(const Distribution& distribution, const Site& site, Noise) override {
    return choose(distribution, site);
  }
  Token choose(const Distribution& distribution, const Site& site) override {
    const double u = next();
    if (site.purpose == Purpose::draft) unread_ = !ngram_;
    if (!ngram_ || site.purpose != Purpose::draft)
      return Distribution(without_mask(distribution, mask_)).quantile(u);
    look();
    if (site.clock != clock_) drafted_.clear();
    clock_ = site.clock;
    Token left = canvas_->token(site.position - 1);
    if (left == kNoToken && drafted_.contains(site.position - 1))
      left = drafted_[site.position - 1];
    const auto successors = successors_.find(left);
    const std::vector<Token>& table =
        successors == successors_.end() ? visible_ : successors->second;
    double cumulative = 0;
    Token chosen = table.back();
    for (const Token token : table) {
      cumulative += distribution.probability(token);
      if (cumulative <= u) continue;
      chosen = token;
      break;
    }
    drafted_[site.position] = chosen;
    return chosen;
  }

  std::vector<bool> compare(std::span<const double> probabilities, const Site&) override {
    if (unread_) next();
    unread_ = false;
    const double u = next();
    std::vector<bool> below;
    for (const double probability : probabilities) below.push_back(u < probability);
    return below;
  }
  double gaussian(const Site&) override { throw Fault("nothing here is normal"); }

  // Notes tokens and bigrams that became visible: the prompt in one sweep, later tokens as they
  // were committed.
  void look() {
    const auto note = [](std::vector<Token>& table, Token token) {
      if (std::find(table.begin(), table.end(), token) == table.end()) table.push_back(token);
    };
    if (shown_.empty()) {
      shown_.assign(canvas_->length(), 0);
      for (std::int32_t i = 0; i < canvas_->length(); ++i) {
        if (!canvas_->given(i)) continue;
        shown_[i] = 1;
        note(visible_, canvas_->token(i));
        if (i > 0 && shown_[i - 1]) note(successors_[canvas_->token(i - 1)], canvas_->token(i));
      }
    }
    for (; noted_ < canvas_->order().size(); ++noted_) {
      const std::int32_t i = canvas_->order()[noted_];
      shown_[i] = 1;
      note(visible_, canvas_->token(i));
      if (i > 0 && shown_[i - 1]) note(successors_[canvas_->token(i - 1)], canvas_->token(i));
      if (i + 1 < canvas_->length() && shown_[i + 1])
        note(successors_[canvas_->token(i)], canvas_->token(i + 1));
    }
  }

  std::vector<double> uniforms_;
  Token mask_;
  bool ngram_, unread_ = false;
  std::size_t used_ = 0, noted_ = 0;
  std::uint32_t clock_ = 0;
  const Canvas* canvas_ = nullptr;
  std::vector<char> shown_;
  std::vector<Token> visible_;
  std::map<Token, std::vector<Token>> successors_;
  std::map<std::int32_t, Token> drafted_;
};

void replay(const fs::path& checkpoint, const nlohmann::json& trace, const Registries& registries,
            bool incremental) {
  const auto& args = trace["args"];
  const bool ngram = args["ngram_model"];
  const double temperature = args["T"];
  const bool plain_oracle = args["no_temp_oracle"];
  const Token mask = args["mask_token"];
  std::string text = "model = any-subset\nacceptance = authors\ntask = positions\ndrafter = " +
                     std::string(ngram ? "ngram" : "self") +
                     "\n[task.positions]\nlength = 2\nprompt = 0:1\n[decode]\ndraft_length = " +
                     std::to_string(args["k"].get<int>()) +
                     "\ntemperature = " + std::to_string(plain_oracle ? 1.0 : temperature) +
                     "\n[model.any-subset]\ncheckpoint = " + checkpoint.string() +
                     "\nincremental = " + (incremental ? "true" : "false") +
                     "\n[acceptance.authors]\nmask = " + std::to_string(mask) +
                     "\n[run]\nthreads = 1\n";
  if (plain_oracle) text += "[drafter.self]\ntemperature = " + std::to_string(temperature) + "\n";
  Diagnostics diagnostics;
  const Composition composition =
      compose(Config::parse(text, "test.ini", diagnostics), registries, diagnostics);
  diagnostics.raise();
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);

  const std::vector<Token> ids = trace["prompt"];
  Prompt prompt;
  prompt.id = "recorded";
  prompt.length = static_cast<int>(ids.size());
  for (std::int32_t i = 0; i < prompt.length; ++i)
    if (ids[i] != mask) prompt.given.emplace_back(i, ids[i]);
  Recorded chance(trace["uniforms"], mask, ngram);
  Decoder decoder(composition, models, prompt, {chance, 0});
  chance.watch(decoder.canvas());
  const SampleRow row = drive(models, decoder, decoder.decode());

  // Step by step: what was drafted stands in the ids of the recorded verification, what was
  // committed in those of the next.
  std::vector<Token> canvas = ids;
  std::size_t at = 0;
  const auto& steps = trace["steps"];
  for (const StepRow& step : row.steps) {
    DOCTEST_REQUIRE(at < steps.size());
    DOCTEST_CHECK(steps[at]["targets"].size() == step.drafts.size());
    if (steps[at]["kind"] == "draft") {
      DOCTEST_CHECK(steps[at]["input_ids"].get<std::vector<Token>>() == canvas);
      ++at;
    }
    if (at < steps.size() && steps[at]["kind"] == "verify") {
      std::vector<Token> drafted = canvas;
      for (const DraftRow& draft : step.drafts) drafted[draft.position] = draft.token;
      DOCTEST_CHECK(steps[at]["input_ids"].get<std::vector<Token>>() == drafted);
      ++at;
    }
    for (const TokenRow& token : step.tokens) canvas[token.position] = token.token;
  }
  DOCTEST_CHECK(at == steps.size());
  DOCTEST_CHECK(canvas == trace["output"].get<std::vector<Token>>());
  DOCTEST_CHECK(decoder.nfe() == trace["nfe"].get<std::int64_t>());
  DOCTEST_CHECK(chance.used() == trace["uniforms"].size());
}

}  // namespace

DOCTEST_TEST_CASE("parity: recorded decodes, commit for commit") {
  Registries registries;
  // Not all of them: the tokenizers' library and torch's do not share a program's scope.
  for (const auto add : {register_model_any_subset, register_frontier_lattice,
                         register_drafter_self, register_drafter_ngram, register_verifier_chain,
                         register_acceptance_speculative, register_router_always,
                         register_unmasker_one, register_unmasker_all, register_task_positions}) {
    add(registries);
  }
  registries.acceptance.add<AuthorsAcceptance>("authors", "the ratio test on unnormalised numbers");
  const Checkpoint scratch;
  for (const auto& [folder, name, family] : bundles_of({"xlnet"}, "decodes of any-subset")) {
    if (!fs::exists(folder / "decode.json")) continue;
    const auto decodes = nlohmann::json::parse(std::ifstream(folder / "decode.json"));
    auto config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
    config["mask_token_id"] = -1;
    std::ofstream(scratch.path / "config.json") << config;
    fs::copy_file(folder / "model.safetensors", scratch.path / "model.safetensors",
                  fs::copy_options::overwrite_existing);
    int replayed = 0;
    for (const auto& trace : decodes["traces"]) {
      DOCTEST_INFO(name << " trace " << replayed);
      for (const bool incremental : {true, false})
        replay(scratch.path, trace, registries, incremental);
      ++replayed;
    }
    std::cout << "parity " << name << ": " << replayed
              << " recorded decodes compared, commit for commit\n";
    DOCTEST_CHECK(replayed > 0);
  }
}

}  // namespace draftlab
