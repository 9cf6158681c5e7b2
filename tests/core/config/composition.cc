#include "core/config/composition.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/config/sweep_axes.h"
#include "core/config/sweep_cells.h"

namespace draftlab {
namespace {

// Parts that do nothing, registered under names that the defaults expect.
struct NoModel final : Model {
  struct Options {
    std::string checkpoint;
    std::int64_t vocabulary = 3;
    void declare(OptionSet& set) {
      set.add("checkpoint", &checkpoint).help("Folder.");
      set.add("vocabulary", &vocabulary).in(2, 8).help("Tokens.");
    }
  };
  explicit NoModel(const Options&) { throw Fault("compose must make no model"); }
  void load(const Machine&) override {}
  ModelFacts facts() const override { return {}; }
  std::unique_ptr<Sequence> open(const Canvas&, const Blocks&) override { return nullptr; }
  void evaluate(std::span<Pending>) override {}
};
struct NoFrontier final : Frontier {
  bool done(const Canvas&) const override { return true; }
  Window next(const Canvas&) const override { return {}; }
};
struct NoDrafter : Drafter {
  std::vector<Form> asks() const override { return {Form::committed}; }
  Asking<Proposal> propose(const Step&) const override { co_return Proposal{}; }
};
struct NgramLike final : NoDrafter {
  struct Options {
    std::int64_t order = 2;
    void declare(OptionSet& set) { set.add("order", &order).in(1, 8).help("Order."); }
  };
  explicit NgramLike(const Options&) {}
};
template <Form kForm>
struct NoVerifier final : Verifier {
  std::vector<Form> asks() const override { return {kForm}; }
  Asking<Verdict> judge(const Step&, const Proposal&, const Acceptance&) const override {
    co_return Verdict{};
  }
};
struct NoAcceptance final : Acceptance {
  double probability(const Trial&) const override { return 1; }
  Distribution replacement(const Trial&) const override { return {}; }
};
struct Always final : Router {
  Route decide(const StepView&) const override { return {}; }
};
struct Hysteresis final : Router {
  struct Options {
    double on = 1, off = -5;
    void declare(OptionSet& set) {
      set.add("on", &on).in(-100, 100).help("On.");
      set.add("off", &off).in(-100, 100).help("Off.");
    }
  };
  explicit Hysteresis(const Options& options) {
    if (options.off > options.on) throw ConfigError("off must not be above on");
  }
  Route decide(const StepView&) const override { return {}; }
};
struct NoUnmasker final : Unmasker {
  Verdict choose(const Step&, const Proposal&) const override { return {}; }
  int preview(const Step&, const Proposal&) const override { return 1; }
};
struct NoEstimator final : Estimator {
  struct Options {
    std::int64_t of = 1;
    void declare(OptionSet& set) { set.add("of", &of).in(1, 8).help("Of."); }
  };
  explicit NoEstimator(const Options&) {}
  double expected(const StepView&) const override { return 1; }
};
// Counts how often it is made; a composition makes each of its parts once.
int made_parts = 0;
struct Counted final : Router {
  Counted() { ++made_parts; }
  bool may_verify() const override { return true; }
  Route decide(const StepView&) const override { return {}; }
};
struct NoTask final : Task {
  void load(const Tokenizer*) override {}
  int size() const override { return 0; }
  Prompt prompt(int) const override { return {}; }
  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }
};

Registries registries() {
  Registries all;
  all.models.add<NoModel>("table", "a toy", {Form::committed, Form::chain});
  all.models.add<NoModel>("masked", "committed only", {Form::committed});
  all.frontiers.add<NoFrontier>("lattice", "order");
  all.drafters.add<NoDrafter>("self", "drafts");
  all.drafters.add<NoDrafter>("stepwise", "drafts one");
  all.drafters.add<NgramLike>("ngram", "looks up");
  all.verifiers.add<NoVerifier<Form::chain>>("chain", "one pass");
  all.verifiers.add<NoVerifier<Form::branches>>("tree", "a tree");
  all.acceptance.add<NoAcceptance>("speculative", "ratio");
  all.routers.add<Always>("always", "always");
  all.routers.add<Hysteresis>("hysteresis", "two thresholds");
  all.unmaskers.add<NoUnmasker>("one", "one");
  all.tasks.add<NoTask>("positions", "none");
  return all;
}

Config parsed(const std::string& text) {
  Diagnostics diagnostics;
  Config config = Config::parse(text, "a.ini", diagnostics);
  diagnostics.raise();
  return config;
}

std::vector<std::string> faults_of(const std::string& text) {
  Diagnostics diagnostics;
  compose(parsed(text), registries(), diagnostics);
  return diagnostics.sentences();
}

Composition composed(const std::string& text) {
  Diagnostics diagnostics;
  Composition arm = compose(parsed(text), registries(), diagnostics);
  diagnostics.raise();
  return arm;
}

const std::string kSmall = "model = table\ntask = positions\n";

TEST_CASE("a config needs a model and a task; the rest has defaults") {
  const Composition arm = composed(kSmall);
  CHECK(arm.models.at("").name == "table");
  CHECK(arm.frontier.name == "lattice");
  CHECK(arm.drafter.name == "self");
  CHECK(arm.verifier.name == "chain");
  CHECK(arm.acceptance.name == "speculative");
  CHECK(arm.router.name == "always");
  CHECK(arm.unmasker.name == "one");
  CHECK_FALSE(arm.estimator);
  CHECK(arm.id.size() == 12);
  const auto diagnostics = faults_of("drafter = self\n");
  REQUIRE(diagnostics.size() == 2);
  CHECK(diagnostics[0] == "a.ini: no model is named; write model = NAME, there are: table, masked");
  CHECK(diagnostics[1] == "a.ini: no task is named; write task = NAME, there are: positions");
}

TEST_CASE("every fault of a config is reported, with file, line and suggestion") {
  const auto diagnostics =
      faults_of(kSmall +
                "drafter = slef\nroutr = always\n[decode]\ndraft_length = 0\ntemprature = "
                "1\n[router.histeresis]\n"
                "on = 1\n[drafter.ngram]\norder = 99\n[decoder]\nx = 1\n[verifier]\nchain = 2\n");
  const std::vector<std::string> expected = {
      "a.ini:3: unknown drafter 'slef'; did you mean 'self'?",
      "a.ini:6: [decode] draft_length = 0 must be in [1, 4096]",
      "a.ini:7: [decode] unknown option 'temprature'; did you mean 'temperature'?",
      // The drafter was not chosen, and is wrong all the same.
      "a.ini:11: [drafter.ngram] order = 99 must be in [1, 8]",
      "a.ini:9: [router.histeresis] names an unknown router; did you mean 'hysteresis'?",
      "a.ini:4: unknown key 'routr'; did you mean 'router'?",
      "a.ini:13: unknown section 'decoder'; did you mean 'decode'?",
      "a.ini:15: unknown key 'verifier.chain'; draftlab list shows what there is",
  };
  CHECK(diagnostics.size() == expected.size());
  for (const std::string& sentence : expected) {
    CAPTURE(sentence);
    CHECK(std::count(diagnostics.begin(), diagnostics.end(), sentence) == 1);
  }
  if (diagnostics.size() != expected.size())
    for (const std::string& sentence : diagnostics) MESSAGE(sentence);
}

TEST_CASE("a part whose questions the model cannot answer is refused") {
  CHECK(faults_of(kSmall + "verifier = tree\n") ==
        std::vector<std::string>{"a.ini:3: verifier 'tree' asks 'branches' questions, which model "
                                 "'table' does not answer (it answers committed, chain)"});
  CHECK(faults_of("model = masked\ntask = positions\n").size() ==
        1);  // The default verifier asks a chain.
}

TEST_CASE("what a constructor refuses is a fault of the config") {
  CHECK(faults_of(kSmall + "router = hysteresis\n[router.hysteresis]\non = 0\noff = 1\n") ==
        std::vector<std::string>{"a.ini:3: router 'hysteresis': off must not be above on"});
}

TEST_CASE("models are instances with sections of their own") {
  const Composition arm = composed(
      kSmall +
      "model.draft = masked\n[model.table]\nvocabulary = 4\n[model.draft]\nvocabulary = 5\n");
  CHECK(arm.models.at("").values[1].second == "4");
  CHECK(arm.models.at("draft").name == "masked");
  CHECK(arm.models.at("draft").values[1].second == "5");
  CHECK(
      faults_of(kSmall + "model.drafts = masked\n") ==
      std::vector<std::string>{"a.ini:3: unknown key 'model.drafts'; did you mean 'model.draft'?"});
}

TEST_CASE("the resolved config is complete, and runs again as it stands") {
  const Composition arm = composed(
      kSmall + "drafter = ngram\n[run]\nthreads = 2\nlimit = 7\n[decode]\ntemperature = 0.70\n");
  CHECK(arm.effective.find("temperature = 0.7\n") != std::string::npos);
  CHECK(arm.effective.find("[drafter.ngram]\norder = 2\n") != std::string::npos);
  CHECK(arm.effective.find("limit") == std::string::npos);
  const Composition again = composed(arm.resolved);
  CHECK(again.resolved == arm.resolved);
  CHECK(again.effective == arm.effective);
  CHECK(again.id == arm.id);
  CHECK(again.run.limit == 7);
  CHECK(composed(arm.effective).id == arm.id);
}

TEST_CASE("what a trace records of an arm runs again as it stands, onlookers included") {
  Registries all = registries();
  all.estimators.add<NoEstimator>("guess", "guesses");
  Diagnostics diagnostics;
  const auto compose_text = [&](const std::string& text) {
    const Composition arm = compose(parsed(text), all, diagnostics);
    REQUIRE(diagnostics.sentences() == std::vector<std::string>());
    return arm;
  };
  const Composition plain = compose_text(kSmall),
                    watched = compose_text(kSmall +
                                           "estimator.mine = guess\n[estimator.mine]\nof = 3\n"
                                           "[trace]\ntop_k = 2\n");
  CHECK(watched.id == plain.id);
  CHECK(watched.recorded.find("[estimator.mine]\nof = 3\n") != std::string::npos);
  CHECK(watched.recorded.find("top_k = 0") != std::string::npos);  // That of [decode].
  CHECK(watched.recorded.find("[trace]") == std::string::npos);
  const Composition again = compose_text(watched.recorded);
  REQUIRE(again.attached.size() == 1);
  CHECK(again.attached[0].first == "mine");
  CHECK(again.attached[0].second.values == watched.attached[0].second.values);
  CHECK(again.recorded == watched.recorded);
  CHECK(again.id == plain.id);
}

TEST_CASE("an arm is what can change a decoded token") {
  const std::string id = composed(kSmall).id;
  CHECK(composed(kSmall + "[run]\nthreads = 2\nbatch = 4\nlimit = 3\n[trace]\ndrafts = "
                          "none\n[drafter.ngram]\norder = 3\n")
            .id == id);
  CHECK(composed(kSmall + "drafter = self\nestimator = none\n[decode]\ndraft_length = 5\n").id ==
        id);
  CHECK(composed(kSmall + "[run]\nseed = 2\n").id != id);
  CHECK(composed(kSmall + "[decode]\ndraft_length = 4\n").id != id);
}

TEST_CASE("sections without effect are warned of") {
  Diagnostics diagnostics;
  const Composition arm =
      compose(parsed(kSmall + "[router.hysteresis]\non = 1\n[model.judge]\nvocabulary = 2\n"),
              registries(), diagnostics);
  CHECK(diagnostics.empty());
  CHECK(arm.warnings ==
        std::vector<std::string>{
            "a.ini:6: [model.judge] has no effect: no model.judge is named",
            "a.ini:4: [router.hysteresis] has no effect: router is not 'hysteresis'"});
}

std::vector<std::string> labels(const std::string& text) {
  Diagnostics diagnostics;
  std::vector<std::string> found;
  for (const Cell& cell : expand(parsed(text), registries(), diagnostics))
    found.push_back(cell.label);
  diagnostics.raise();
  return found;
}

std::vector<std::string> sweep_faults(const std::string& text) {
  Diagnostics diagnostics;
  expand(parsed(text), registries(), diagnostics);
  return diagnostics.sentences();
}

TEST_CASE("a sweep is a product, the first axis slowest") {
  CHECK(labels(kSmall) == std::vector<std::string>{""});
  CHECK(labels(kSmall +
               "[sweep]\ndrafter = self, stepwise\ndecode.draft_length = 2, 3\nrun.seed = 4\n") ==
        std::vector<std::string>{
            "drafter=self decode.draft_length=2", "drafter=self decode.draft_length=3",
            "drafter=stepwise decode.draft_length=2", "drafter=stepwise decode.draft_length=3"});
}

TEST_CASE("a cell is composed once, whoever asks for its composition") {
  Registries all = registries();
  all.routers.add<Counted>("counted", "counts");
  Diagnostics diagnostics;
  const auto made_for = [&](const auto& work) {
    made_parts = 0;
    work();
    return made_parts;
  };
  const Config one = parsed(kSmall + "router = counted\n");
  const int each = made_for([&] { compose(one, all, diagnostics); });
  CHECK(each > 0);
  const Config sweep = parsed(kSmall + "router = counted\n[sweep]\ndrafter = self, stepwise\n");
  std::vector<Cell> cells;
  CHECK(made_for([&] { cells = expand(sweep, all, diagnostics); }) == 2 * each);
  REQUIRE(cells.size() == 2);
  CHECK(made_for([&] {
          for (const Cell& cell : cells) {
            const Composition arm = composition_of(cell, all, diagnostics);
            CHECK(arm.id == cell.id);
            CHECK(arm.drafter.name == cell.axes.at(0).second);
          }
          without_effect(cells, all);
        }) == 0);
  CHECK(diagnostics.empty());
}

TEST_CASE("axes that do not apply collapse") {
  CHECK(
      labels(kSmall + "[sweep]\nrouter = always, hysteresis\nrouter.hysteresis.on = 0, 1.0, 5\n") ==
      std::vector<std::string>{"router=always", "router=hysteresis router.hysteresis.on=0",
                               "router=hysteresis router.hysteresis.on=1",
                               "router=hysteresis router.hysteresis.on=5"});
}

TEST_CASE("zip pairs axes") {
  CHECK(labels(kSmall + "[sweep]\ndecode.temperature = 0.5, 1\ndecode.draft_length = 2, 3\ndrafter "
                        "= self, ngram\n"
                        "zip = decode.temperature, decode.draft_length\n") ==
        std::vector<std::string>{"drafter=self decode.temperature=0.5 decode.draft_length=2",
                                 "drafter=self decode.temperature=1 decode.draft_length=3",
                                 "drafter=ngram decode.temperature=0.5 decode.draft_length=2",
                                 "drafter=ngram decode.temperature=1 decode.draft_length=3"});
  CHECK(sweep_faults(kSmall + "[sweep]\ndecode.top_k = 1, 2\ndecode.draft_length = 2\nzip = "
                              "decode.top_k, decode.draft_length\n") ==
        std::vector<std::string>{"a.ini:6: [sweep] zip = decode.top_k, decode.draft_length pairs 2 "
                                 "values with 1 of decode.draft_length"});
  CHECK(sweep_faults(kSmall + "[sweep]\nzip = decode.top_k\n").size() == 1);
}

TEST_CASE("the baseline comes first, once") {
  CHECK(
      labels(kSmall + "[sweep]\nbaseline = drafter=stepwise\ndrafter = self, ngram, stepwise\n") ==
      std::vector<std::string>{"drafter=stepwise", "drafter=self", "drafter=ngram"});
  CHECK(labels(kSmall + "[sweep]\nbaseline = drafter=stepwise decode.top_k=1\n") ==
        std::vector<std::string>{"drafter=stepwise decode.top_k=1", "drafter=self decode.top_k=0"});
  CHECK(labels("task = positions\n[sweep]\nbaseline = drafter=stepwise\nmodel = table\n") ==
        std::vector<std::string>{"drafter=stepwise", "drafter=self"});
}

// Most cells are put together from what others have shown; each is what composing it would have
// given.
TEST_CASE("a cell's id is that of its composition, however many there are") {
  const std::vector<std::string> sweeps = {
      "[sweep]\ndrafter = self, ngram, stepwise\nrouter = always, hysteresis\nrouter.hysteresis.on "
      "= 0, 1.0, 5\nrouter.hysteresis.off = -1, 0\n"
      "decode.draft_length = 02, 3\nrun.seed = 1, 2\nbaseline = drafter=stepwise decode.top_k=3\n",
      "[decode]\ntemperature = 0.5\n[sweep]\ndrafter.ngram.order = 2, 3\ndrafter = self, "
      "ngram\ndecode.top_p = 0.5, 0.9\nzip = drafter, decode.top_p\n",
      "[sweep]\nmodel.table.checkpoint = a, b\nmodel.table.vocabulary = 2, 3\nmodel.draft = table, "
      "table\nrun.dtype = f32, bf16\n"};
  for (const std::string& text : sweeps) {
    CAPTURE(text);
    Diagnostics diagnostics;
    const std::vector<Cell> cells = expand(parsed(kSmall + text), registries(), diagnostics);
    for (const std::string& sentence : diagnostics.sentences()) FAIL_CHECK(sentence);
    CHECK(cells.size() >= 3);
    std::set<std::string> ids;
    for (const Cell& cell : cells) {
      CHECK(cell.id == compose(cell.config, registries(), diagnostics).id);
      CHECK(ids.insert(cell.id).second);
    }
  }
}

TEST_CASE("arms that are compared with one baseline share its cell") {
  Diagnostics diagnostics;
  const std::vector<Cell> cells =
      expand(parsed(kSmall +
                    "[sweep]\nbaseline = drafter=stepwise router=always\ndrafter = stepwise, self\n"
                    "router = always, hysteresis\nrouter.hysteresis.on = 1, 2, 3\n"),
             registries(), diagnostics);
  CHECK(diagnostics.empty());
  int baselines = 0;
  for (const Cell& cell : cells) {
    const Composition arm = compose(cell.config, registries(), diagnostics);
    baselines += arm.drafter.name == "stepwise" && arm.router.name == "always";
  }
  CHECK(cells.size() == 8);
  CHECK(baselines == 1);
}

// Half a second; comparing each with each would take longer than a test may.
TEST_CASE("a hundred thousand cells are told apart") {
  std::string seeds, lengths;
  for (int i = 0; i < 1000; ++i) seeds += (i ? "," : "") + std::to_string(i);
  for (int i = 1; i <= 100; ++i) lengths += (i > 1 ? "," : "") + std::to_string(i);
  Diagnostics diagnostics;
  CHECK(expand(parsed(kSmall + "[sweep]\nrun.seed = " + seeds +
                      "\ndecode.draft_length = " + lengths + "\n"),
               registries(), diagnostics)
            .size() == 100000);
}

TEST_CASE("faults of a sweep name its line, and are told once") {
  CHECK(sweep_faults(kSmall + "[sweep]\ndrafter = self, slef\ndecode.draft_length = 2, 3\n") ==
        std::vector<std::string>{"a.ini:4: unknown drafter 'slef'; did you mean 'self'?"});
  CHECK(sweep_faults(kSmall + "[sweep]\nrouter.hysteresis.onn = 1, 2\n") ==
        std::vector<std::string>{
            "a.ini:4: [router.hysteresis] unknown option 'onn'; did you mean 'on'?"});
  CHECK(sweep_faults(kSmall + "[sweep]\nroutr = always\n") ==
        std::vector<std::string>{"a.ini:4: unknown key 'routr'; did you mean 'router'?"});
  CHECK(sweep_faults(kSmall + "[sweep]\nrun.threads = 1, 2\n").size() == 1);
  CHECK(sweep_faults(kSmall + "[sweep]\ndrafter = self,\n").size() == 1);
  CHECK(sweep_faults(kSmall +
                     "[sweep]\nrun.seed = 1,1,1,1,1,1,1,1,1,1\ndecode.top_k = 1,1,1,1,1,1,1,1,1,1\n"
                     "drafter = self,self,self,self,self,self,self,self,self,self,self\n"
                     "decode.draft_length = 1,1,1,1,1,1,1,1,1,1\n"
                     "decode.temperature = 1,1,1,1,1,1,1,1,1,1\nrun.dtype = "
                     "f32,f32,f32,f32,f32,f32,f32,f32,f32,f32\n")
            .size() == 1);
  CHECK(faults_of(kSmall + "[sweep]\ndrafter = self\n") ==
        std::vector<std::string>{"a.ini:4: [sweep] has several arms, and one is wanted here"});
}

TEST_CASE("what the command line fixes is not swept") {
  Config config = parsed(kSmall + "[sweep]\ndrafter = self, ngram\ndecode.draft_length = 2, 3\n");
  config.set({"decode.draft_length", "7", "--decode.draft_length"});
  Diagnostics diagnostics;
  const std::vector<Cell> cells = expand(config, registries(), diagnostics);
  CHECK(diagnostics.empty());
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].label == "drafter=self");
  CHECK(cells[0].config.find("decode.draft_length")->value == "7");
}

TEST_CASE("a section has an effect when any cell uses it") {
  Diagnostics diagnostics;
  const auto unused = [&](const std::string& text) {
    return without_effect(expand(parsed(text), registries(), diagnostics), registries()).size();
  };
  const std::string options = "[router.hysteresis]\non = 1\n[drafter.ngram]\norder = 3\n";
  CHECK(unused(kSmall + options) == 2);
  CHECK(unused(kSmall + options + "[sweep]\nrouter = always, hysteresis\n") == 1);
  CHECK(unused(kSmall + options +
               "[sweep]\nrouter = always, hysteresis\ndrafter = self, ngram\n") == 0);
}

const std::string kArms =
    "[arm.ar]\nlabel = sequential\ndrafter = stepwise\n"
    "[arm.fast]\nlabel = S2D2, on 2\nrouter = hysteresis\nrouter.hysteresis.on = 2\n"
    "[arm.plain]\ndecode.top_k = 2\n";

TEST_CASE("an arm is an axis whose values are named sets of keys") {
  CHECK(labels(kSmall + kArms + "[sweep]\narm = fast, plain\nrun.seed = 1, 2\n") ==
        std::vector<std::string>{"S2D2, on 2 run.seed=1", "S2D2, on 2 run.seed=2",
                                 "plain run.seed=1", "plain run.seed=2"});
  CHECK(labels(kSmall + kArms + "[sweep]\nbaseline = arm=ar\narm = fast\n") ==
        std::vector<std::string>{"sequential", "S2D2, on 2"});
  CHECK(
      labels(kSmall + kArms + "[sweep]\narm = ar, plain\nrun.seed = 4, 5\nzip = run.seed, arm\n") ==
      std::vector<std::string>{"sequential run.seed=4", "plain run.seed=5"});
  CHECK(labels(kSmall + "arm = fast\n" + kArms) == std::vector<std::string>{"S2D2, on 2"});
}

TEST_CASE("a cell of an arm is the config with the arm's keys, and nothing of arms is left in it") {
  Diagnostics diagnostics;
  const std::vector<Cell> cells = expand(
      parsed(kSmall + kArms + "[sweep]\narm = ar, fast, plain\ndecode.draft_length = 2, 3\n"),
      registries(), diagnostics);
  CHECK(diagnostics.empty());
  REQUIRE(cells.size() == 6);
  for (const Cell& cell : cells) {
    const Composition arm = compose(cell.config, registries(), diagnostics);
    CHECK(diagnostics.empty());
    CHECK(cell.id == arm.id);
    CHECK(composed(arm.resolved).id == arm.id);
  }
  CHECK(cells[3].label == "S2D2, on 2 decode.draft_length=3");
  CHECK(cells[3].axes == std::vector<std::pair<std::string, std::string>>{
                             {"arm", "fast"}, {"decode.draft_length", "3"}});
  CHECK(cells[3].config.find("router.hysteresis.on")->value == "2");
  CHECK_FALSE(cells[0].config.find("router"));
  CHECK(composed(kSmall +
                 "router = hysteresis\n[router.hysteresis]\non = 2\n[decode]\ndraft_length "
                 "= 3\n")
            .id == cells[3].id);
}

TEST_CASE("an arm beats an axis, its cells collapse, and a warning says so") {
  const std::string text =
      kSmall +
      "[arm.ar]\ndecode.top_k = 1\n[arm.plain]\nrun.seed = 3\n[arm.idle]\nrun.seed = 4\n"
      "[sweep]\narm = ar, plain\ndecode.top_k = 5, 6\n";
  CHECK(labels(text) ==
        std::vector<std::string>{"ar", "plain decode.top_k=5", "plain decode.top_k=6"});
  Diagnostics diagnostics;
  CHECK(
      read_sweep(parsed(text), diagnostics).warnings ==
      std::vector<std::string>{
          "a.ini:4: [arm.ar] sets decode.top_k, so the axis decode.top_k (a.ini:11) does not vary "
          "it there",
          "a.ini:8: [arm.idle] has no effect: neither [sweep] nor arm = NAME names it"});
  CHECK(diagnostics.empty());
}

TEST_CASE("a baseline that is an arm stands first, and as the cell of the product that it is") {
  CHECK(labels(kSmall + kArms +
               "[sweep]\nbaseline = arm=fast\narm = ar, fast\ndecode.draft_length = 2, 3\n") ==
        std::vector<std::string>{
            "S2D2, on 2 decode.draft_length=2", "sequential decode.draft_length=2",
            "sequential decode.draft_length=3", "S2D2, on 2 decode.draft_length=3"});
  CHECK(labels(kSmall + kArms + "[sweep]\nbaseline = arm=ar decode.top_k=7\narm = plain\n") ==
        std::vector<std::string>{"sequential decode.top_k=7", "plain"});
  // Without an arm of its own it takes the first.
  CHECK(labels(kSmall + kArms + "[sweep]\nbaseline = run.seed=9\narm = plain, ar\n") ==
        std::vector<std::string>{"plain run.seed=9", "plain", "sequential"});
}

TEST_CASE("faults of arms name their line") {
  const auto one = [](const std::string& text) {
    const std::vector<std::string> found = sweep_faults(kSmall + text);
    return found.size() == 1 ? found[0] : std::to_string(found.size()) + " faults";
  };
  CHECK(
      one("[arm.fast]\nrouter = always\n[sweep]\narm = fats\n") ==
      "a.ini:6: [sweep] arm = fats, but no section [arm.fats] sets anything; did you mean 'fast'?");
  CHECK(one("[arm.fast]\nrouter = always\n[sweep]\nbaseline = arm=zero\n") ==
        "a.ini:6: [sweep] baseline arm = zero, but no section [arm.zero] sets anything; there are: "
        "fast");
  CHECK(one("arm = x\n") == "a.ini:3: arm = x, but no section [arm.x] sets anything");
  CHECK(one("[arm]\nrouter = always\n") ==
        "a.ini:4: arm.router belongs to no arm; write [arm.NAME] above it");
  CHECK(one("[arm.a]\nlabel =\n") == "a.ini:4: [arm.a] label must say something");
  CHECK(
      one("[arm.a]\nrun.batch = 2\n") ==
      "a.ini:4: [arm.a] cannot set run.batch: arms that differ in it alone decode the same tokens");
  CHECK(one("[arm.a]\nlabel = same\n[arm.b]\nlabel = same\n") ==
        "a.ini:6: [arm.b] and [arm.a] are both called 'same'");
  CHECK(one("[arm.a]\nrouter = alway\n[sweep]\narm = a\n") ==
        "a.ini:4: unknown router 'alway'; did you mean 'always'?");
}

TEST_CASE("the command line beats arms, and chooses one") {
  Config config = parsed(kSmall + kArms + "[sweep]\nbaseline = arm=ar\narm = fast, plain\n");
  config.set({"arm", "plain", "--arm"});
  Diagnostics diagnostics;
  std::vector<Cell> cells = expand(config, registries(), diagnostics);
  CHECK(diagnostics.empty());
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].label == "sequential");
  CHECK(cells[1].label == "plain");
  config.set({"decode.top_k", "9", "--decode.top_k"});
  cells = expand(config, registries(), diagnostics);
  REQUIRE(cells.size() == 2);
  CHECK(cells[1].config.find("decode.top_k")->value == "9");
  config.set({"arm", "nobody", "--arm"});
  expand(config, registries(), diagnostics);
  CHECK(diagnostics.sentences() ==
        std::vector<std::string>{"--arm = nobody, but no section [arm.nobody] sets anything; there "
                                 "are: ar, fast, plain"});
  Config swept = parsed(kSmall + "[sweep]\ndecode.top_k = 1, 2\n");
  swept.set({"arm", "decode.top_k=2", "--arm"});
  Diagnostics of_axis;
  expand(swept, registries(), of_axis);
  CHECK(of_axis.sentences() ==
        std::vector<std::string>{"--arm = decode.top_k=2, but no section [arm.decode.top_k=2] sets "
                                 "anything; one value of an axis is chosen by --sweep.KEY VALUE"});
}

TEST_CASE("cells that differ in their claim alone are one decoder and several claims") {
  const std::string text = kSmall +
                           "[arm.a]\ncertify.worst_nfe = 3\n"
                           "[arm.b]\nreference.law = denoising\ncertify.expect = lossy\n"
                           "[arm.c]\nreference.law = denoising\n[sweep]\narm = a, b, c\n";
  struct Claim {
    std::string expect = "lossless";
    std::int64_t worst_nfe = 0;
    void declare(OptionSet& set) {
      set.add("expect", &expect).help("What is claimed.");
      set.add("worst_nfe", &worst_nfe).in(0, 9).help("At most.");
    }
  };
  Registries all = registries();
  struct Law {
    std::string law = "sequential";
    void declare(OptionSet& set) { set.add("law", &law).help("The law that texts should have."); }
  };
  all.sections.add<Claim>("certify");
  all.sections.add<Law>("reference");
  Diagnostics diagnostics;
  CHECK(expand(parsed(text), all, diagnostics).size() == 1);
  const std::vector<Cell> claims = expand_claims(parsed(text), all, diagnostics);
  CHECK(diagnostics.empty());
  REQUIRE(claims.size() == 3);
  CHECK(claims[0].id == claims[1].id);
  CHECK(claims[1].config.find("reference.law")->value == "denoising");
  CHECK(claims[0].config.find("certify.worst_nfe")->value == "3");
  CHECK(expand_claims(parsed(text + "run.threads = 1\n"), all, diagnostics).empty());
}

}  // namespace
}  // namespace draftlab
