// Parts, models and tasks that lie while they decode: each lie is noticed before it is recorded or
// used, and the sentence names who told it.
#include <doctest/doctest.h>

#include <stdexcept>

#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

struct Flips : Router {
  Route decide(const StepView&) const override {
    Route route;
    route.flip = 7;
    return route;
  }
};

struct NeverTaken : Router {
  Route decide(const StepView&) const override {
    Route route;
    route.propensity = kNotMeasured;
    return route;
  }
};

struct Throws : Router {
  Route decide(const StepView&) const override { throw std::runtime_error("out of luck"); }
};

struct Negative : Estimator {
  double expected(const StepView&) const override { return -1; }
};

struct Surer : Acceptance {
  double probability(const Trial&) const override { return 1.5; }
  Distribution replacement(const Trial& trial) const override { return trial.target; }
};

struct Shorter : Acceptance {
  double probability(const Trial&) const override { return 0; }
  Distribution replacement(const Trial&) const override { return Distribution::uniform(1); }
};

struct Previews : Unmasker {
  Verdict choose(const Step&, const Proposal&) const override { return {}; }
  int preview(const Step&, const Proposal&) const override { return -2; }
};

// It tops up the last draft, whatever the verdict has.
struct Again : Unmasker {
  Verdict choose(const Step&, const Proposal&) const override { return {}; }
  int preview(const Step&, const Proposal&) const override { return 0; }
  Verdict top_up(const Step&, const Proposal& proposal, Verdict verdict) const override {
    verdict.commits.push_back(commit_of(proposal.nodes.front(), Source::fallback));
    verdict.commits.push_back(commit_of(proposal.nodes.front(), Source::fallback));
    return verdict;
  }
};

struct Outside : Verifier {
  std::vector<Form> asks() const override { return {Form::chain}; }
  Asking<Verdict> judge(const Step&, const Proposal& proposal, const Acceptance&) const override {
    Verdict verdict;
    verdict.commits = {commit_of(proposal.nodes.front(), Source::accepted)};
    verdict.why = static_cast<Stop>(99);
    co_return verdict;
  }
};

struct Beyond : Frontier {
  bool done(const Canvas& canvas) const override { return canvas.masked_positions().empty(); }
  Window next(const Canvas& canvas) const override { return {canvas.masked_positions(), 99}; }
};

struct Gives : Drafter {
  std::vector<Form> asks() const override { return {Form::committed}; }
  Asking<Proposal> propose(const Step& step) const override {
    Proposal proposal;
    proposal.nodes = {{kRoot, step.window.positions.front(), 0}};
    proposal.drawn_from = {Distribution::point(1, step.vocabulary)};
    co_return proposal;
  }
};

struct Guesses : Drafter {
  Asking<Proposal> propose(const Step& step) const override {
    Proposal proposal;
    proposal.nodes = {{kRoot, step.window.positions.front(), 0}};
    proposal.exact = 1;
    co_return proposal;
  }
};

struct Breaks : Drafter {
  Asking<Proposal> propose(const Step&) const override {
    throw 7;
    co_return Proposal();
  }
};

// A uniform model that lies as its option says.
class Liar final : public Model {
 public:
  struct Options {
    std::string how;
    void declare(OptionSet& set) { set.add("how", &how).help("How it lies."); }
  };
  explicit Liar(const Options& options) : how_(options.how) {}
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 3, facts.family = "liar";
    if (how_ == "stops") facts.stops = {3};
    if (how_ == "longest") facts.longest = -5;
    if (how_ == "changes" && answered_ > 1) facts.stops = {0};
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }

 private:
  void evaluate(std::span<Pending> batch) override {
    ++answered_;
    const auto logits = std::make_shared<std::vector<float>>(3, how_ == "nan" ? std::nanf("") : 0);
    for (Pending& pending : batch) {
      pending.rows = how_ == "negative" ? -1 : how_ == "costly" ? std::int64_t{1} << 62 : 1;
      for (const Ask& ask : pending.question->asks)
        for (const std::int32_t position : ask.positions)
          if (how_ == "wide")
            pending.answer->add(ask.node, position, Distribution::uniform(4));
          else if (how_ != "silent")
            pending.answer->add(ask.node, position,
                                Distribution::from_logits(logits, *logits, kNoToken));
    }
  }
  std::string how_;
  int answered_ = 0;
};

Registries with_liars(const std::string& plugin) {
  Registries all;
  register_builtin_plugins(all);
  all.each([&](auto& registry) { registry.set_plugin(plugin); });
  all.routers.add<Flips>("flips", "");
  all.routers.add<NeverTaken>("never-taken", "");
  all.routers.add<Throws>("throws", "");
  all.estimators.add<Negative>("negative", "");
  all.acceptance.add<Surer>("surer", "");
  all.acceptance.add<Shorter>("shorter", "");
  all.unmaskers.add<Previews>("previews", "");
  all.unmaskers.add<Again>("again", "");
  all.verifiers.add<Outside>("outside", "");
  all.frontiers.add<Beyond>("beyond", "");
  all.drafters.add<Gives>("gives", "");
  all.drafters.add<Guesses>("guesses", "");
  all.drafters.add<Breaks>("breaks", "");
  all.models.add<Liar>("liar", "", {Form::committed, Form::chain, Form::branches});
  return all;
}

// Decodes with one part chosen. Returns the status and the sentence of the error, or "".
std::string said(const std::string& chosen, const std::string& plugin = "liars.so") {
  const Registries registries = with_liars(plugin);
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "task = positions\nestimator.other = entropy\n" + chosen +
          (chosen.find("model =") == std::string::npos ? "\nmodel = table" : "") +
          (chosen.find("frontier =") == std::string::npos ? "\nfrontier = blocks" : "") +
          (chosen.find("drafter =") == std::string::npos ? "\ndrafter = denoise" : "") +
          "\n[task.positions]\nprompt = 0:1\n[decode]\nblock_size = 4\n",
      "a.ini", diagnostics);
  const Composition arm = compose(config, registries, diagnostics);
  diagnostics.raise();
  try {
    Loaded loaded;
    const Models models = load_models(arm, arm.run.machine, loaded);
    const auto task = arm.task.make();
    task->load(nullptr);
    SampledChance chance(1);
    Decoder decoder(arm, models, task->prompt(0), {chance, 1});
    drive(models, decoder, decoder.decode());
  } catch (const Error& error) {
    return std::to_string(error.status()) + " " + error.what();
  }
  return "";
}

TEST_CASE("a part that lies while it decodes is named, with the status of plugins") {
  CHECK(said("router = flips") ==
        "76 router 'flips' (liars.so) reverses its decision with probability 7");
  CHECK(said("router = never-taken") ==
        "76 router 'never-taken' (liars.so) took its decision with probability nan");
  CHECK(said("router = throws") == "76 router 'throws' (liars.so) failed: out of luck");
  CHECK(said("estimator = negative") ==
        "76 estimator 'negative' (liars.so) expects an accepted prefix of -1 drafts");
  CHECK(said("estimator.mine = negative") ==
        "76 estimator 'negative' (liars.so) expects an accepted prefix of -1 drafts");
  CHECK(said("acceptance = surer") ==
        "76 acceptance 'surer' (liars.so) accepts with probability 1.5");
  CHECK(said("acceptance = shorter") ==
        "76 acceptance 'shorter' (liars.so) replaces a draft from 1 tokens, and the vocabulary has "
        "3");
  CHECK(said("unmasker = previews\nrouter = never") ==
        "76 unmasker 'previews' (liars.so) calls -2 of 3 drafts confident");
  CHECK(said("unmasker = again\nrouter = never") ==
        "76 unmasker 'again' (liars.so) commits position 1 twice");
  CHECK(said("verifier = outside") ==
        "76 verifier 'outside' (liars.so) stops for the unknown reason 99");
  CHECK(said("frontier = beyond") ==
        "76 frontier 'beyond' (liars.so) has a span of 99 of 4 positions");
  CHECK(said("drafter = gives") ==
        "76 drafter 'gives' (liars.so) says that token 0 was drawn from a distribution that never "
        "gives it");
  CHECK(said("drafter = guesses") ==
        "76 drafter 'guesses' (liars.so) calls 1 drafts exact, and the target was not asked");
  CHECK(said("drafter = breaks") ==
        "76 drafter 'breaks' (liars.so) failed: it threw something that is no exception");
}

TEST_CASE("a model that lies is named before its answer is read") {
  const auto liar = [](const std::string& how) {
    return said("model = liar\nmodel.liar.how = " + how);
  };
  CHECK(liar("not") == "");
  CHECK(liar("stops") ==
        "76 model 'liar' (liars.so) ends a text with token 3, and its vocabulary has 3");
  CHECK(liar("longest") == "76 model 'liar' (liars.so) holds -5 positions; 0 stands for any");
  CHECK(liar("negative") == "76 model 'liar' (liars.so) says that it computed -1 rows");
  CHECK(liar("costly") ==
        "76 model 'liar' (liars.so) says that it computed 4611686018427387904 rows");
  CHECK(liar("silent") == "76 model 'liar' (liars.so) does not answer position 1, which was asked");
  CHECK(liar("wide") ==
        "76 model 'liar' (liars.so) answers position 1 by 4 tokens of a vocabulary of 3");
  CHECK(liar("nan") ==
        "76 model 'liar' (liars.so) answers position 1 with logits that are not numbers");
  CHECK(liar("changes") ==
        "76 model 'liar' (liars.so) has another list of stops than when it was loaded");
}

TEST_CASE("the same lie of a part of draftlab's own is a fault of draftlab") {
  CHECK(said("router = flips", "") == "70 router 'flips' reverses its decision with probability 7");
}

}  // namespace
}  // namespace draftlab
