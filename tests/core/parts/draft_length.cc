// How many drafts a step makes: where paths end, and what is learnt from what was accepted.
#include "core/parts/draft_length.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "tests/core/prob/of.h"

namespace draftlab {
namespace {

using testing::of;

DecodeOptions options(DraftRule rule, double stop = 0.4, bool adapts = false) {
  DecodeOptions options;
  options.draft_length = 4;
  options.draft_rule = rule;
  options.draft_stop = stop;
  options.draft_adapts = adapts;
  return options;
}

// A path of drafts of token 0 with these probabilities.
Proposal path(std::initializer_list<double> probabilities) {
  Proposal proposal;
  for (const double p : probabilities) {
    const int at = static_cast<int>(proposal.nodes.size());
    proposal.nodes.push_back({at - 1, at, 0});
    proposal.drawn_from.push_back(of({p, 1 - p}));
  }
  proposal.raw = proposal.drawn_from;
  return proposal;
}

std::size_t cut(DraftRule rule, double stop, Proposal proposal) {
  DraftLength(options(rule, stop)).cut(proposal);
  CHECK(proposal.drawn_from.size() == proposal.nodes.size());
  CHECK(proposal.raw.size() == proposal.nodes.size());
  return proposal.nodes.size();
}

Verdict accepting(int count) {
  Verdict verdict;
  for (int i = 0; i < count; ++i) verdict.commits.push_back({i, 0, Source::accepted});
  verdict.commits.push_back({count, 1, Source::resampled});
  verdict.judged.resize(1);
  return verdict;
}

TEST_CASE("likely: an unlikely draft is the last, and stays; likely-dropped: it goes, too") {
  const Proposal drafts = path({.9, .5, .3, .8});
  CHECK(cut(DraftRule::likely, .4, drafts) == 3);
  CHECK(cut(DraftRule::likely, .3, drafts) == 4);  // The bound is strict.
  CHECK(cut(DraftRule::likely_dropped, .4, drafts) == 2);
  CHECK(cut(DraftRule::likely, .95, drafts) == 1);
  CHECK(cut(DraftRule::likely_dropped, .95, drafts) == 1);  // A step drafts something.
  CHECK(cut(DraftRule::fixed, .95, drafts) == 4);
  CHECK(cut(DraftRule::matches, .95, drafts) == 4);
}

TEST_CASE("sure: nothing is drafted where 1 - sqrt(.2 H) is below the threshold") {
  const auto kept = [](const Distribution& second, double stop) {
    Proposal drafts = path({.9, .9});
    drafts.raw[1] = second;
    return cut(DraftRule::sure, stop, drafts);
  };
  CHECK(kept(of({.9, .05, .05}), .719144986) == 2);
  CHECK(kept(of({.9, .05, .05}), .719144988) == 1);
  CHECK(kept(of({.5, .3, .2}), .546204227) == 2);
  CHECK(kept(of({.5, .3, .2}), .546204229) == 1);
  CHECK(kept(of({.97, .02, .01}), .824593276) == 2);
  CHECK(kept(of({.97, .02, .01}), .824593278) == 1);
}

TEST_CASE("a tree loses what stands behind an end, and names its parents anew") {
  Proposal tree = path({.9, .3, .9, .9, .8});
  // 0 has the children 1 (unlikely) and 3; 2 stands behind 1, and 4 behind 3.
  tree.nodes[2].parent = 1, tree.nodes[3].parent = 0, tree.nodes[4].parent = 3;
  DraftLength(options(DraftRule::likely)).cut(tree);
  REQUIRE(tree.nodes.size() == 4);
  CHECK(tree.nodes[1].parent == 0);
  CHECK(tree.nodes[2].parent == 0);
  CHECK(tree.nodes[3].parent == 2);
  CHECK(tree.drawn_from[3].probability(0) == doctest::Approx(.8));
}

TEST_CASE("the target's own draws stay, and point masses cannot be read") {
  Proposal exact = path({.1, .1, .1});
  exact.exact = 2;
  CHECK(cut(DraftRule::likely_dropped, .5, exact) == 2);
  exact.exact = 3;
  CHECK(cut(DraftRule::likely_dropped, .5, exact) == 3);
  Proposal points = path({.5, .5});
  points.raw.clear(), points.drawn_from.clear();
  CHECK_THROWS_WITH_AS(DraftLength(options(DraftRule::sure)).cut(points),
                       doctest::Contains("decode.draft_rule = sure reads the distributions"),
                       ConfigError);
}

TEST_CASE("matches: two more after a step that accepted all, else one fewer, never none") {
  DraftLength length(options(DraftRule::matches));
  CHECK(length.most() == 4);
  length.observe(path({1, 1, 1, 1}), accepting(4));
  CHECK(length.most() == 6);
  length.observe(path({1, 1, 1, 1}), accepting(3));
  CHECK(length.most() == 5);
  CHECK(length.state() == "5");
  for (int i = 0; i < 9; ++i) length.observe(path({1, 1}), accepting(0));
  CHECK(length.most() == 1);
  length.observe(path({1}), {});  // These drafts were not judged.
  CHECK(length.most() == 1);
}

TEST_CASE("goodput: as many drafts as promise the most tokens a second") {
  DecodeOptions costs = options(DraftRule::goodput);
  costs.draft_cost = 0.15;
  costs.row_cost = 0.05;
  DraftLength length(costs);
  CHECK(length.most() == 4);  // Nothing was tested yet.
  // Three of four, with the two that it begins with: 1 to 4 drafts give 1.458, 1.652, 1.709 and
  // 1.695 tokens in the time of a forward.
  length.observe(path({1, 1}), accepting(2));
  CHECK(length.state() == "0x1p+1/0x1p+1");
  CHECK(length.most() == 3);
  // 2.8 of 4.8, for the second and third draft were not tested: 1.319, 1.374, 1.326, 1.246.
  length.observe(path({1, 1, 1}), accepting(0));
  CHECK(length.most() == 2);
  length.observe(path({1, 1}), {});  // These drafts were not judged.
  CHECK(length.most() == 2);
  for (int i = 0; i < 99; ++i) length.observe(path({1, 1}), accepting(2));
  CHECK(length.most() == 4);  // Never more than draft_length.
}

// Whether the threshold and the mean share that a state holds are these.
bool holds(const DraftLength& length, double threshold, double share) {
  double is[2] = {0, 0};
  REQUIRE(std::sscanf(length.state().c_str(), "%lf/%lf", &is[0], &is[1]) == 2);
  return std::abs(is[0] - threshold) < 1e-12 && std::abs(is[1] - share) < 1e-12;
}

TEST_CASE("an adapting threshold moves towards nine of ten accepted drafts") {
  DraftLength length(options(DraftRule::likely, .4, true));
  const Distribution half = of({.4005, .5995});
  CHECK_FALSE(length.ends_after(0, half));
  // The mean falls from 1 to 1/2, so the threshold rises by a tenth of .01.
  length.observe(path({.5, .5}), accepting(0));
  CHECK(holds(length, 0.401, 0.5));
  CHECK(length.ends_after(0, half));
  // Up to .75, .875: it goes on rising; then .9375: it falls, unless all drafts were made.
  length.observe(path({.5, .5}), accepting(2));
  length.observe(path({.5, .5}), accepting(2));
  CHECK(holds(length, 0.403, 0.875));
  length.observe(path({.5, .5, .5, .5}), accepting(4));
  CHECK(holds(length, 0.403, 0.9375));
  length.observe(path({.5, .5}), accepting(2));
  CHECK(holds(length, 0.402, 0.96875));
  CHECK(DraftLength(options(DraftRule::likely)).state() == "");
  CHECK(DraftLength(options(DraftRule::likely, .4, true), false).state() == "");
}

}  // namespace
}  // namespace draftlab
