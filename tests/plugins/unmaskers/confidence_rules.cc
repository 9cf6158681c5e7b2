// Rules of 2025 for what is committed without verification, with the numbers of their papers or of
// the authors' programs.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/plugins/scripted_step.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

using testing::of;
using Positions = std::vector<std::int32_t>;

// Token 0 is drafted at every position; `answers` are what the model says there.
struct Unmasking {
  testing::ScriptedStep scripted;
  Proposal proposal;
  std::unique_ptr<Unmasker> unmasker;

  Unmasking(const std::string& name, const std::string& options, int length)
      : scripted(Canvas(length, {})) {
    unmasker = testing::part(&Registries::unmaskers, name, options);
    scripted.decode.threshold = 0.9;
    unmasker->begin(scripted.blocks, scripted.decode);
    scripted.window.positions = scripted.canvas.masked_positions();
  }
  Unmasking& says(const std::vector<Distribution>& answers) {
    proposal = {};
    for (std::size_t i = 0; i < answers.size(); ++i) {
      proposal.nodes.push_back({kRoot, scripted.window.positions[i], 0});
      proposal.raw.push_back(answers[i]);
    }
    return *this;
  }
  Unmasking& sure_of(std::initializer_list<double> confidences) {
    std::vector<Distribution> answers;
    for (const double p : confidences) answers.push_back(of({p, 1 - p, 0}));
    return says(answers);
  }
  Positions choose() {
    Positions positions;
    for (const Commit& commit : unmasker->choose(scripted.step(), proposal).commits)
      positions.push_back(commit.position);
    return positions;
  }
  // One step of the loop in which nothing is committed.
  void observe() {
    Verdict verdict;
    verdict.proposal = &proposal;
    unmasker->observe(scripted.canvas, {}, verdict);
  }
};

int factor(std::initializer_list<double> confidences, const std::string& options) {
  Unmasking unmasking("factor", options, static_cast<int>(confidences.size()));
  return static_cast<int>(unmasking.sure_of(confidences).choose().size());
}

TEST_CASE("factor: the largest n with (n + 1) (1 - c_n) below the factor, as the paper has it") {
  CHECK(factor({.99, .95, .9, .6, .3}, "") == 3);
  CHECK(factor({.9, .1}, "") == 1);
  CHECK(factor({.99, .9, .2}, "") == 2);
  CHECK(factor({.6, .55, .5}, "factor = 2") == 2);  // That is 4 * .5 is not below 2.
  CHECK(factor({.1, .1}, "") == 1);
  CHECK(factor({.9, .99, .3, .6, .95}, "") == 3);  // The order of positions does not matter.
}

TEST_CASE("factor: the authors' program takes all where only the last fails, and equality passes") {
  CHECK(factor({.99, .95, .9, .6, .3}, "as = program") == 3);
  CHECK(factor({.9, .1}, "as = program") == 2);
  CHECK(factor({.99, .9, .2}, "as = program") == 3);
  CHECK(factor({.6, .55, .5}, "factor = 2\nas = program") == 3);
  CHECK(factor({.1}, "as = program") == 1);
}

// KL((.95, .05) || (.9, .1)) = .016706501, reversed .020654219; KL((.96, .04) || (.95, .05)) =
// .001126706.
TEST_CASE("klass: confident, and hardly changed in each of the last two steps") {
  Unmasking unmasking("klass", "", 2);
  unmasking.sure_of({.95, .3});
  CHECK(unmasking.choose() == Positions{0});  // These are the quota's best; nothing is known yet.
  CHECK(unmasking.unmasker->preview(unmasking.scripted.step(), unmasking.proposal) == 0);
  unmasking.observe();
  const auto ready = [&](double confidence) {
    unmasking.sure_of({confidence, .3});
    return unmasking.unmasker->preview(unmasking.scripted.step(), unmasking.proposal);
  };
  CHECK(ready(.96) == 0);  // One small change is not two.
  unmasking.observe();
  CHECK(ready(.96) == 1);
  CHECK(ready(.9) == 0);  // It is not above the threshold, and has changed.
  unmasking.sure_of({.9, .3}).observe();
  CHECK(ready(.95) == 0);  // Counting begins anew.
  unmasking.sure_of({.95, .3}).observe();
  CHECK(ready(.96) == 0);
}

TEST_CASE("klass: the divergence is that of now from before") {
  const auto ready = [](const std::string& bound, double before, double now) {
    Unmasking unmasking("klass", "history = 1\ndivergence = " + bound, 1);
    unmasking.scripted.decode.threshold = 0.5;
    unmasking.sure_of({before}).observe();
    unmasking.sure_of({now});
    return unmasking.unmasker->preview(unmasking.scripted.step(), unmasking.proposal) == 1;
  };
  CHECK(ready("0.016706502", .9, .95));
  CHECK_FALSE(ready("0.016706500", .9, .95));
  CHECK(ready("0.020654220", .95, .9));
  CHECK_FALSE(ready("0.020654218", .95, .9));
  CHECK(ready("0.001126707", .95, .96));
  CHECK_FALSE(ready("0.001126705", .95, .96));
}

TEST_CASE("klass and credit: the state is what was said of masked positions") {
  for (const char* const name : {"klass", "credit"}) {
    Unmasking one(name, "", 2), other(name, "", 2);
    one.sure_of({.6, .7}).observe();
    other.sure_of({.6, .8}).observe();
    CHECK(one.unmasker->state() != other.unmasker->state());
    // Once position 1 is committed, what was said of it makes no difference.
    for (Unmasking* const unmasking : {&one, &other}) {
      unmasking->scripted.canvas.commit(1, 0);
      unmasking->sure_of({.6}).observe();
    }
    CHECK(one.unmasker->state() == other.unmasker->state());
  }
}

TEST_CASE("credit: the same best token in step after step gains confidence") {
  Unmasking unmasking("credit", "", 1);
  for (const double fused : {.701787272, .746696610, .772122111, .788299045}) {
    unmasking.sure_of({.6});
    for (const double threshold : {fused - 1e-9, fused + 1e-9}) {
      unmasking.scripted.decode.threshold = threshold;
      CHECK(unmasking.unmasker->preview(unmasking.scripted.step(), unmasking.proposal) ==
            (threshold < fused ? 1 : 0));
    }
    unmasking.observe();
  }
}

TEST_CASE("credit: what another token has earned counts against the draft") {
  Unmasking unmasking("credit", "weight = 1", 1);
  unmasking.says({of({.3, .7, 0})}).observe();  // Token 1 earns .7^.2 = .931149915.
  unmasking.says({of({.6, .4, 0})});
  // Credit now: token 0 .902880451, token 1 .8 * .931149915 = .744919932.
  const double fused = .6 * 1.902880451 / (.6 * 1.902880451 + .4 * 1.744919932);
  unmasking.scripted.decode.threshold = fused - 1e-8;
  CHECK(unmasking.unmasker->preview(unmasking.scripted.step(), unmasking.proposal) == 1);
  unmasking.scripted.decode.threshold = fused + 1e-8;
  CHECK(unmasking.unmasker->preview(unmasking.scripted.step(), unmasking.proposal) == 0);
}

TEST_CASE("hierarchical: beside confident drafts, the best of each run of masks above `least`") {
  Unmasking unmasking("hierarchical", "", 7);
  unmasking.scripted.canvas.commit(3, 1);  // The masks are 0 1 2 and 4 5 6.
  unmasking.scripted.window.positions = unmasking.scripted.canvas.masked_positions();
  CHECK(unmasking.sure_of({.5, .6, .3, .35, .2, .39}).choose() == Positions{1});
  CHECK(unmasking.sure_of({.5, .6, .3, .45, .2, .39}).choose() == Positions{1, 4});
  CHECK(unmasking.sure_of({.95, .6, .3, .45, .91, .92}).choose() == Positions{0, 6, 5});
}

TEST_CASE("hierarchical: a run of masks goes on to both sides of a draft") {
  Unmasking unmasking("hierarchical", "", 2);
  CHECK(unmasking.sure_of({.8, .5}).choose() == Positions{0});
  CHECK(unmasking.sure_of({.5, .8}).choose() == Positions{1});
}

TEST_CASE("local-leap: drafts near a confident one need less confidence") {
  Unmasking unmasking("local-leap", "distance = 2", 6);
  CHECK(unmasking.sure_of({.8, .7, .95, .76, .8, .8}).choose() == Positions{2, 0, 4, 3});
  // There is no anchor.
  CHECK(unmasking.sure_of({.8, .7, .9, .76, .8, .8}).choose() == Positions{2});
  Unmasking strict("local-leap", "near = 0.8", 6);
  CHECK(strict.sure_of({.8, .7, .95, .76, .81, .8}).choose() == Positions{2, 4});
}

TEST_CASE("prophet: the rest is committed once its logits lead by enough, which falls with time") {
  // The gaps are log(.9 / .1) = 2.197 and log(.6 / .4) = .405, 1.301 in the mean.
  const double mean = (std::log(9) + std::log(1.5)) / 2;
  const auto chosen = [&](const char* key, double enough, int filled) {
    std::string options;
    for (const std::string option : {"early", "middle", "late"})
      options += option + " = " + (option == key ? std::to_string(enough) : "9") + "\n";
    Unmasking unmasking("prophet", options, 6);
    for (std::int32_t at = 2; at < 2 + filled; ++at) unmasking.scripted.canvas.commit(at, 1);
    unmasking.scripted.window.positions = {0, 1};
    return unmasking.sure_of({.9, .6}).choose().size();
  };
  CHECK(chosen("early", mean - 1e-5, 1) == 2);
  CHECK(chosen("early", mean + 1e-5, 1) == 1);  // The quota alone is committed.
  CHECK(chosen("middle", mean - 1e-5, 1) == 1);
  CHECK(chosen("middle", mean - 1e-5, 2) == 2);
  CHECK(chosen("late", mean - 1e-5, 3) == 1);
  CHECK(chosen("late", mean - 1e-5, 4) == 2);
}

TEST_CASE("slow-fast: a cycle is decoded to the end that stood still, and only then the rest") {
  const Distribution high = of({.95, .05, 0, 0}), middle = of({.5, .3, .2, 0}),
                     low = of({.25, .25, .25, .25});
  Unmasking unmasking("slow-fast", "", 6);
  // While ends are looked for, drafts of the whole block are committed.
  unmasking.says({middle, middle, high, low, low, high});
  CHECK(unmasking.choose() == Positions{2, 5});
  unmasking.says({middle, high, middle, low, low, low}).observe();
  unmasking.says({middle, high, low, high, low, low});
  CHECK(unmasking.choose() == Positions{1, 3});
  unmasking.observe();  // Ends at 3, then at 4: their standard deviation is .5.
  unmasking.says({high, middle, high, middle, high, high});
  CHECK(unmasking.choose() == Positions{0, 2});
  unmasking.observe();  // A fast phase does not look for ends.
  unmasking.says({middle, middle, low, low, high, high});
  CHECK(unmasking.choose() == Positions{0});
  // The cycle is full: a slow phase begins with the rest.
  unmasking.scripted.window.positions = {4, 5};
  CHECK(unmasking.says({low, high}).choose() == Positions{5});
}

TEST_CASE(
    "slow-fast: an end that does not stand still is the mean of the last, after enough steps") {
  const Distribution middle = of({.5, .3, .2, 0}), low = of({.25, .25, .25, .25});
  const auto decoded = [&](const std::string& options) {
    Unmasking unmasking("slow-fast", options, 8);
    unmasking.says({middle, low, low, low, low, low, low, low}).observe();
    unmasking.says({low, low, low, low, low, middle, low, low}).observe();  // Ends at 1, then at 6.
    std::vector<Distribution> sure(8, of({.95, .05, 0, 0}));
    return unmasking.says(sure).choose().size();
  };
  CHECK(decoded("") == 8);  // The slow phase has six steps.
  CHECK(decoded("explore = 2") == 3);
  CHECK(decoded("explore = 2\nhistory = 1") == 1);  // The first end stands still by itself.
  CHECK(decoded("deviation = 2.5001") == 6);
  CHECK(decoded("deviation = 2.4999") == 8);
  CHECK(decoded("explore = 2\nlikely = 0.6") == 1);  // Nothing is likely: one position.
  CHECK(decoded("explore = 2\nlikely = 0.25") == 8);
}

TEST_CASE("pc-sampler: early places and rare tokens first") {
  Unmasking unmasking("pc-sampler", "", 3);
  unmasking.scripted.decode.steps = 1;
  unmasking.unmasker->begin(unmasking.scripted.blocks, unmasking.scripted.decode);
  // exp(-.25 i) p: .5, .467, .485
  CHECK(unmasking.sure_of({.5, .6, .8}).choose() == Positions{0, 2, 1});

  const std::string path = testing::scratch("frequencies.txt");
  std::ofstream(path) << "0 0 0 0 0 0\n1\n";
  Unmasking counted("pc-sampler", "corpus = " + path + "\ndecay = 0", 2);
  counted.sure_of({.5, .5});
  counted.proposal.nodes[1].token = 1;  // The weight f is 2/10 against 7/10 of token 0.
  CHECK(counted.choose() == Positions{1});
  // .9 * .357 is more than .1 * 1.609, but not where at most .1 counts: then the leftmost is first.
  counted.says({of({.9, .1, 0}), of({.9, .1, 0})});
  counted.proposal.nodes[1].token = 1;
  CHECK(counted.choose() == Positions{0});
  counted.says({of({.05, .95, 0}), of({.95, .05, 0})});
  CHECK(counted.choose() == Positions{1});
}

TEST_CASE("pc-sampler: a token beyond all those of the corpus has been seen never") {
  const std::string path = testing::scratch("three_tokens.txt");
  std::ofstream(path) << "2 0 1\n";
  Unmasking unmasking("pc-sampler", "corpus = " + path + "\ndecay = 0", 2);
  unmasking.scripted.vocabulary = 4;
  unmasking.says({of({.5, 0, 0, .5}), of({.5, 0, 0, .5})});
  // Of seven counts token 3 has one and token 0 has two.
  unmasking.proposal.nodes[1].token = 3;
  CHECK(unmasking.choose() == Positions{1});
}

TEST_CASE("the quota is met where a rule is not sure, and drafts beyond the window stay") {
  for (const char* const name : {"factor", "klass", "credit", "hierarchical", "local-leap",
                                 "pc-sampler", "prophet", "slow-fast"}) {
    CAPTURE(name);
    Unmasking unmasking(name, "", 5);
    unmasking.scripted.decode.steps = 2;
    unmasking.unmasker->begin(unmasking.scripted.blocks, unmasking.scripted.decode);
    CHECK(unmasking.sure_of({.1, .15, .2, .1, .12}).choose().size() == 3);
    unmasking.scripted.window.positions = {0, 1};
    for (const std::int32_t position : unmasking.choose()) CHECK(position < 2);
  }
}

}  // namespace
}  // namespace draftlab
