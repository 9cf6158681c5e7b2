// Parts that are each wrong, in every shipped certificate into which they fit. Until the reference
// was a law of its own, it was decoded by the accused: a verifier that always committed the most
// probable token was certified lossless.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/config/sweep_cells.h"
#include "experiments/certify/certificate.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

// How often a wrong part did something wrong: where it never could, its certificate may hold.
int wrongs = 0;
// What a router decided so far.
bool verified = false, unverified = false;

struct NoOptions {
  void declare(OptionSet&) {}
};

Token least_likely(const Distribution& law) {
  Token least = 0;
  for (Token token = 1; token < law.size(); ++token)
    if (law.probability(token) < law.probability(least)) least = token;
  return least;
}

// Commits the token that the target finds least likely, at the first open position.
class LeastLikely final : public Verifier {
 public:
  using Options = NoOptions;
  explicit LeastLikely(const Options&) {}
  std::vector<Form> asks() const override { return {Form::committed}; }
  Asking<Verdict> judge(const Step& step, const Proposal&, const Acceptance&) const override {
    const std::int32_t position = step.window.positions.front();
    Question question{
        .kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
    const Answer answer = co_await step.ask(std::move(question));
    ++wrongs;
    Verdict verdict;
    verdict.commits = {{position, least_likely(answer.at(kRoot, position)), Source::resampled}};
    verdict.why = Stop::wrong_token;
    co_return verdict;
  }
};

// Draws from the square of the target's law.
class Squared final : public Verifier {
 public:
  using Options = NoOptions;
  explicit Squared(const Options&) {}
  std::vector<Form> asks() const override { return {Form::committed}; }
  Asking<Verdict> judge(const Step& step, const Proposal&, const Acceptance&) const override {
    const std::int32_t position = step.window.positions.front();
    Question question{
        .kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
    const Answer answer = co_await step.ask(std::move(question));
    const Distribution law = step.drawn(answer.at(kRoot, position));
    wrongs += law.max() < 1;
    const Distribution squared(law.probabilities().square().eval());
    Verdict verdict;
    verdict.commits = {{position, step.chance.draw(squared, step.site(position, Purpose::residual)),
                        Source::resampled}};
    verdict.why = Stop::wrong_token;
    co_return verdict;
  }
};

// Accepts every draft, whatever the target thinks of it.
class Credulous final : public Acceptance {
 public:
  using Options = NoOptions;
  explicit Credulous(const Options&) {}
  double probability(const Trial& trial) const override {
    const double drawn = trial.drawn_from ? trial.drawn_from->probability(trial.token) : 1;
    wrongs += std::abs(trial.target.probability(trial.token) - drawn) > 1e-6;
    return 1;
  }
  Distribution replacement(const Trial& trial) const override { return trial.target; }
};

// Drafts evenly, and claims that its drafts are the target's own draws.
class FalselyExact final : public Drafter {
 public:
  using Options = NoOptions;
  explicit FalselyExact(const Options&) {}
  std::vector<DecodeKey> reads() const override { return {}; }
  Asking<Proposal> propose(const Step& step) const override {
    const std::int32_t position = step.window.positions.front();
    Question question{
        .kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
    const Answer answer = co_await step.ask(std::move(question));
    const Distribution even = Distribution::uniform(step.vocabulary);
    Proposal proposal;
    proposal.nodes = {
        {kRoot, position, step.chance.draw(even, step.site(position, Purpose::draft))}};
    proposal.drawn_from = proposal.raw = {even};
    proposal.exact = 1;
    ++wrongs;
    co_return proposal;
  }
};

// Commits the token 0 in place of the first draft.
class Zero final : public Unmasker {
 public:
  using Options = NoOptions;
  explicit Zero(const Options&) {}
  Verdict choose(const Step& step, const Proposal&) const override {
    ++wrongs;
    Verdict verdict;
    verdict.commits = {{step.window.positions.front(), 0, Source::threshold}};
    verdict.why = Stop::unverified;
    return verdict;
  }
  int preview(const Step&, const Proposal&) const override { return 0; }
};

// Decides by the last drafted token, which is drawn again where the step is not verified.
class ByToken final : public Router {
 public:
  using Options = NoOptions;
  explicit ByToken(const Options&) {}
  Route decide(const StepView& step) const override {
    const bool verify =
        step.confidence.size() > 0 && step.confidence[step.confidence.size() - 1] < 0.4;
    (verify ? verified : unverified) = true;
    wrongs = verified && unverified;
    return {.verify = verify};
  }
};

Registries with_wrong_parts() {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  registries.verifiers.add<LeastLikely>("least-likely", "");
  registries.verifiers.add<Squared>("squared", "");
  registries.acceptance.add<Credulous>("credulous", "");
  registries.drafters.add<FalselyExact>("falsely-exact", "");
  registries.unmaskers.add<Zero>("zero", "");
  registries.routers.add<ByToken>("by-token", "");
  return registries;
}

// The shipped certificates on toys that claim a law; of a sweep its first and its last cell.
std::vector<Cell> claims(const Registries& registries) {
  std::vector<std::string> paths;
  for (const auto& entry :
       fs::recursive_directory_iterator(std::string(DRAFTLAB_SOURCE_DIR) + "/configs/certify")) {
    const std::string path = entry.path().string();
    if (path.ends_with(".ini") && path.find("/cspd/") == std::string::npos &&
        path.find("/checkpoints/") == std::string::npos &&
        path.find("/lossy-") == std::string::npos)
      paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Cell> all;
  for (const std::string& path : paths) {
    Diagnostics diagnostics;
    std::vector<Cell> cells =
        expand_claims(Config::read(path, {}, diagnostics), registries, diagnostics);
    diagnostics.raise();
    if (cells.size() > 2) cells.erase(cells.begin() + 1, cells.end() - 1);
    for (Cell& cell : cells) {
      cell.label = path.substr(path.find("configs/")) + " " + cell.label;
      all.push_back(std::move(cell));
    }
  }
  return all;
}

struct Tried {
  int fits = 0, refused = 0;
};

// Puts a wrong part into every certificate, and looks what becomes of it. A certificate in which
// the part could do nothing wrong counts for nothing.
Tried tried(const std::vector<Cell>& cells, const Registries& registries, const std::string& kind,
            const std::string& part, const std::string& also = "") {
  Tried result;
  for (const Cell& cell : cells) {
    Config config = cell.config;
    config.set({kind, part, "test"});
    if (!also.empty()) config.set({"router", also, "test"});
    Diagnostics diagnostics;
    const Composition decoder = compose(config, registries, diagnostics);
    if (!diagnostics.empty()) continue;  // The part does not fit.
    wrongs = 0;
    verified = unverified = false;
    bool refused = true;
    try {
      refused = !certificate_of(decoder, cell.label).exact();
    } catch (const Fault&) {  // A part that breaks the loop's contract is refused, too.
    } catch (const ConfigError&) {
      continue;
    }
    if (wrongs == 0) continue;
    ++result.fits;
    result.refused += refused;
    CAPTURE(cell.label);
    CHECK(refused);
  }
  return result;
}

TEST_CASE("a part that is wrong is refused by every shipped certificate into which it fits") {
  const Registries registries = with_wrong_parts();
  const std::vector<Cell> cells = claims(registries);
  REQUIRE(cells.size() > 60);
  const auto fits = [&](const std::string& kind, const std::string& part,
                        const std::string& also = "") {
    CAPTURE(part);
    return tried(cells, registries, kind, part, also).fits;
  };
  CHECK(fits("verifier", "least-likely") > 40);
  CHECK(fits("verifier", "squared") > 30);
  CHECK(fits("acceptance", "credulous") > 15);
  CHECK(fits("drafter", "falsely-exact") > 40);
  CHECK(fits("unmasker", "zero", "never") > 40);
}

TEST_CASE("a router that leaves drafts unverified by what they say is refused") {
  const Registries registries = with_wrong_parts();
  std::vector<Cell> cells = claims(registries);
  // Where every unverified commit is a draw of the target, or all steps are verified whatever the
  // router says, no router can be wrong.
  std::erase_if(cells, [&](const Cell& cell) {
    return cell.label.find("/s2d2-shadow") != std::string::npos ||
           (cell.label.find("/s2d2/s2d2") == std::string::npos &&
            cell.label.find("/speculative/speculative-sampling") == std::string::npos);
  });
  CHECK(tried(cells, registries, "router", "by-token").fits > 3);
}

TEST_CASE("lossless is said of the target's own law alone") {
  const Registries registries = with_wrong_parts();
  Diagnostics diagnostics;
  Config config = Config::read(
      std::string(DRAFTLAB_SOURCE_DIR) + "/configs/certify/ssd/ssd-threshold.ini", {}, diagnostics);
  CHECK(certificate_of(compose(config, registries, diagnostics), "it").holds());
  config.set({"certify.expect", "lossless", "test"});
  CHECK_THROWS_WITH_AS(certificate_of(compose(config, registries, diagnostics), "it"),
                       doctest::Contains("reference.law = denoising is another"), ConfigError);
}

// A drafter whose tokens come from a generator of its own, though it asks for the target's law.
class OwnRandomness final : public Drafter {
 public:
  using Options = NoOptions;
  explicit OwnRandomness(const Options&) {}
  std::vector<DecodeKey> reads() const override { return {}; }
  Asking<Proposal> propose(const Step& step) const override {
    const std::int32_t position = step.window.positions.front();
    Question question{
        .kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
    const Answer answer = co_await step.ask(std::move(question));
    Proposal proposal;
    proposal.nodes = {{kRoot, position, static_cast<Token>(std::rand() % step.vocabulary)}};
    proposal.exact = 1;
    co_return proposal;
  }
};

TEST_CASE("a decode that does not repeat itself is refused") {
  Registries registries = with_wrong_parts();
  registries.drafters.add<OwnRandomness>("own-randomness", "");
  Diagnostics diagnostics;
  Config config = Config::read(
      std::string(DRAFTLAB_SOURCE_DIR) + "/configs/certify/assd/assd-self-k3.ini", {}, diagnostics);
  config.set({"drafter", "own-randomness", "test"});
  CHECK_THROWS_WITH_AS(certificate_of(compose(config, registries, diagnostics), "it"),
                       doctest::Contains("repeated with the same random numbers"), Fault);
}

// A model whose answers change each time that it is asked, by `kBy`; its precision is said to be
// that of single numbers.
template <int kBy>
class Restless final : public Model {
 public:
  using Options = NoOptions;
  explicit Restless(const Options&) {}
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 3;
    facts.family = "restless";
    facts.rounding = unit_roundoff(Precision::f32);
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }
  bool rows_are_independent() const override { return true; }
  bool mixes() const override { return true; }

 private:
  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch)
      for (const Ask& ask : pending.question->asks)
        for (const std::int32_t position : ask.positions) {
          const double by = 1e-8 * kBy * (++asked_ % 5);
          pending.answer->add(ask.node, position,
                              Distribution(Eigen::ArrayXd{{.5 + by, .3 - by, .2}}));
        }
  }
  int asked_ = 0;
};

TEST_CASE("the rule is told apart from the arithmetic, and a model that lies from both") {
  Registries registries = with_wrong_parts();
  const std::vector<Form> all = {Form::committed, Form::chain, Form::branches, Form::shallow};
  registries.models.add<Restless<1>>("rounds", "", all);
  registries.models.add<Restless<1000000>>("lies", "", all);
  const auto certified = [&](const std::string& model, const std::string& verifier) {
    Diagnostics diagnostics;
    Config config = Config::read(
        std::string(DRAFTLAB_SOURCE_DIR) + "/configs/certify/assd/assd-self-tested.ini",
        {{"sweep.arm", "hot"}, {"model", model}}, diagnostics);
    if (!verifier.empty()) config.set({"verifier", verifier, "test"});
    const Config cell = expand_claims(config, registries, diagnostics).at(0).config;
    const Composition decoder = compose(cell, registries, diagnostics);
    diagnostics.raise();
    return certificate_of(decoder, "it");
  };
  const Certificate rounds = certified("rounds", "");
  CHECK(rounds.exact());
  CHECK(rounds.variation < 1e-12);
  CHECK(rounds.arithmetic.largest > 1e-9);
  CHECK(rounds.arithmetic.largest <= 4.1e-8);
  CHECK(rounds.arithmetic.bound() == doctest::Approx(1024 * 0x1p-24));
  CHECK_FALSE(certified("rounds", "squared").exact());
  CHECK_THROWS_WITH_AS(certified("lies", ""), doctest::Contains("answered one question"),
                       DataError);
}

}  // namespace
}  // namespace draftlab
