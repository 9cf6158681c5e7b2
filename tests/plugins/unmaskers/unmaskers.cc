// Which drafts are committed without verification, of five whose numbers can be checked by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
using Positions = std::vector<std::int32_t>;

struct Committing {
  testing::ScriptedStep scripted{Canvas(5, {})};
  Proposal proposal;
  std::unique_ptr<Unmasker> unmasker;

  // Token 0 is drafted everywhere, with probability .9, .5, .95, .5 and .7, halved where it is
  // drawn from.
  explicit Committing(const std::string& name, const std::string& options = "",
                      std::int64_t steps = 0, double threshold = 0.6) {
    unmasker = testing::part(&Registries::unmaskers, name, options);
    scripted.window = {.positions = {0, 1, 2, 3, 4}, .span = 5};
    scripted.decode.steps = steps;
    scripted.decode.threshold = threshold;
    for (std::int32_t i = 0; const double p : {.9, .5, .95, .5, .7}) {
      proposal.nodes.push_back({i - 1, i, 0});
      proposal.raw.push_back(of({p, 1 - p, 0}));
      proposal.drawn_from.push_back(of({p / 2, 1 - p / 2, 0}));
      ++i;
    }
    unmasker->begin(scripted.blocks, scripted.decode);
  }
  static Positions positions(const Verdict& verdict) {
    Positions positions;
    for (const Commit& commit : verdict.commits) positions.push_back(commit.position);
    return positions;
  }
  Positions choose() { return positions(unmasker->choose(scripted.step(), proposal)); }
  Positions top_up(std::initializer_list<Commit> commits) {
    const Verdict verdict = unmasker->top_up(
        scripted.step(), proposal,
        {.commits = commits, .edits = {}, .why = Stop::wrong_token, .carry = {}, .judged = {}});
    for (std::size_t i = commits.size(); i < verdict.commits.size(); ++i)
      CHECK(verdict.commits[i].source == Source::fallback);
    return positions(verdict);
  }
  int preview() { return unmasker->preview(scripted.step(), proposal); }
};

TEST_CASE("threshold, always: confident drafts follow a verification, whatever it committed") {
  // Drafts above 0.6 are, most confident first, those at 2, 0 and 4.
  const auto left = [](const std::string& options, std::vector<Commit> commits, Stop why,
                       std::int64_t steps = 0) {
    Committing unmasking("threshold", options, steps);
    return unmasking.unmasker->top_up(
        unmasking.scripted.step(), unmasking.proposal,
        {.commits = std::move(commits), .edits = {}, .why = why, .carry = {}, .judged = {}});
  };
  const Verdict added = left("always = true", {{0, 0}}, Stop::wrong_token);
  CHECK(Committing::positions(added) == Positions{0, 2, 4});
  CHECK(added.commits[1].source == Source::threshold);
  CHECK(Committing::positions(left("", {{0, 0}}, Stop::wrong_token)) == Positions{0});
  CHECK(Committing::positions(left("always = true", {{0, 0}}, Stop::unverified)) == Positions{0});
  // They count towards the quota: of five tokens in one step, the two that are left top it up.
  CHECK(Committing::positions(left("always = true", {{0, 0}}, Stop::wrong_token, 1)) ==
        Positions{0, 2, 4, 1, 3});
  CHECK(Committing::positions(left("always = true\nmost = 1", {{0, 0}}, Stop::wrong_token)) ==
        Positions{0, 2});
}

TEST_CASE("one: the first, or the most confident and of equals the leftmost") {
  CHECK(Committing("one").choose() == Positions{0});
  CHECK(Committing("one", "which = confident").choose() == Positions{2});
  Committing tied("one", "which = confident");
  tied.proposal.raw[2] = tied.proposal.raw[0];
  CHECK(tied.choose() == Positions{0});
  std::swap(tied.proposal.nodes[0], tied.proposal.nodes[2]);
  CHECK(tied.choose() == Positions{0});
  std::swap(tied.proposal.nodes[0], tied.proposal.nodes[2]);
  CHECK(tied.preview() == 0);
  CHECK(tied.top_up({{3, 1}}) == Positions{3});
  CHECK(tied.top_up({}) == Positions{0});
}

TEST_CASE("one, confident: of equal drafts the leftmost, in whatever order they come") {
  Committing tied("one", "which = confident");
  std::swap(tied.proposal.nodes[0], tied.proposal.nodes[1]);
  tied.proposal.raw[0] = tied.proposal.raw[1] = tied.proposal.raw[2];
  CHECK(tied.choose() == Positions{0});
}

TEST_CASE("static: the quota's most confident") {
  CHECK(Committing("static").choose() == Positions{2});
  CHECK(Committing("static", "", 2).choose() ==
        Positions{2, 0, 4});  // The quota is 5 div 2, and one more in the first 5 mod 2 steps.
  CHECK(Committing("static", "", 1).choose() == Positions{2, 0, 4, 1, 3});
  CHECK(Committing("static", "", 9).choose() == Positions{2});
  CHECK(Committing("static", "", 2).preview() == 0);
}

// How many tokens each step of two blocks of five commits, in `steps` steps a block.
std::vector<std::size_t> of_two_blocks(const std::string& name, const std::string& options,
                                       std::int64_t steps) {
  testing::ScriptedStep scripted{Canvas(10, {})};
  scripted.blocks = {.size = 5, .origin = 0};
  scripted.decode.block_size = 5;
  scripted.decode.steps = steps;
  scripted.decode.threshold = .9;
  scripted.decodes(name, options);
  std::vector<std::size_t> committed;
  while (!scripted.frontier->done(scripted.canvas)) {
    scripted.window = scripted.frontier->next(scripted.canvas);
    Proposal proposal;
    for (const std::int32_t position : scripted.window.positions) {
      if (scripted.blocks.index(position) != scripted.window.block) continue;
      proposal.nodes.push_back({static_cast<int>(proposal.nodes.size()) - 1, position, 0});
      proposal.raw.push_back(of({.5, .5, 0}));
    }
    const Verdict verdict = scripted.unmasker->choose(scripted.step(), proposal);
    REQUIRE_FALSE(verdict.commits.empty());
    for (const Commit& commit : verdict.commits)
      scripted.canvas.commit(commit.position, commit.token);
    committed.push_back(verdict.commits.size());
    scripted.unmasker->observe(scripted.canvas, {}, verdict);
  }
  return committed;
}

TEST_CASE("a schedule begins again in the second block") {
  using Sizes = std::vector<std::size_t>;
  for (const std::string name : {"static", "threshold", "factor", "klass"}) {
    CAPTURE(name);
    CHECK(of_two_blocks(name, "", 4) == Sizes{2, 1, 1, 1, 2, 1, 1, 1});
    CHECK(of_two_blocks(name, "", 3) == Sizes{2, 2, 1, 2, 2, 1});
    CHECK(of_two_blocks(name, "", 2) == Sizes{3, 2, 3, 2});
  }
}

TEST_CASE("static: Dream's orders, and the leftmost among equals") {
  Committing unmasking("static", "order = entropy", 1);
  CHECK(unmasking.choose() == Positions{2, 0, 4, 1, 3});
  // It has a margin of .25 against 0 of positions 1 and 3, but 1.04 nats against .69.
  unmasking.proposal.raw[4] = of({.5, .25, .25});
  CHECK(unmasking.choose() == Positions{2, 0, 1, 3, 4});
  Committing margin("static", "order = margin", 1);
  margin.proposal.raw[4] = unmasking.proposal.raw[4];
  CHECK(margin.choose() == Positions{2, 0, 4, 1, 3});
  Committing peak("static", "order = peak", 1);
  peak.proposal.raw[1] = of({.01, .99, 0});  // Whatever was drafted, the peak counts.
  CHECK(peak.choose() == Positions{1, 2, 0, 4, 3});
  CHECK(Committing("static", "order = peak").choose() == Positions{2});
}

TEST_CASE("drafts beyond the window are not committed") {
  for (const char* name : {"static", "all", "threshold", "entropy-bound", "one"}) {
    Committing unmasking(name, "", 0, .1);
    unmasking.scripted.window.positions = {0, 1};
    for (const std::int32_t position : unmasking.choose()) CHECK(position < 2);
  }
}

// Dream decodes n = 12 masks in 12 steps as 0, 1, 1, ..., 1, 2: 12 (1 - s/t) is .999 at first.
TEST_CASE("timesteps: int(n (1 - s/t)), which may be none, and all in the last step") {
  const auto quotas = [](int masks, std::int64_t steps) {
    testing::ScriptedStep scripted(Canvas(masks, {}));
    scripted.decode.steps = steps;
    const auto unmasker = testing::part(&Registries::unmaskers, "static", "schedule = timesteps");
    unmasker->begin(scripted.blocks, scripted.decode);
    std::vector<int> made;
    for (std::int64_t i = 0; i < steps; ++i) {
      scripted.window.positions = scripted.canvas.masked_positions();
      Proposal proposal;
      for (const std::int32_t position : scripted.window.positions) {
        proposal.nodes.push_back({kRoot, position, 0});
        proposal.raw.push_back(of({1, 0}));
      }
      const Verdict verdict = unmasker->choose(scripted.step(), proposal);
      for (const Commit& commit : verdict.commits)
        scripted.canvas.commit(commit.position, commit.token);
      unmasker->observe(scripted.canvas, {}, verdict);
      made.push_back(static_cast<int>(verdict.commits.size()));
    }
    return made;
  };
  CHECK(quotas(12, 12) == std::vector<int>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2});
  CHECK(quotas(12, 6) == std::vector<int>{1, 2, 2, 2, 2, 3});
  CHECK(quotas(5, 1) == std::vector<int>{5});
}

TEST_CASE("independent: each draft with probability 1 - s/t, all in the last step") {
  double sum = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    Committing unmasking("static", "schedule = independent", 4);
    unmasking.scripted.chance = SampledChance(static_cast<std::uint64_t>(trial));
    sum += static_cast<double>(unmasking.choose().size());
  }
  CHECK(sum / 2000 == doctest::Approx(5 * .24975).epsilon(.06));
  CHECK(Committing("static", "schedule = independent", 1).choose() == Positions{2, 0, 4, 1, 3});
}

TEST_CASE("the quota falls when the block's first steps are over, and is new in the next block") {
  Committing unmasking("static", "", 2);
  const auto commit = [](std::int32_t position) {
    return Verdict{.commits = {{position, 0}},
                   .edits = {},
                   .why = Stop::unverified,
                   .carry = {},
                   .judged = {}};
  };
  unmasking.unmasker->observe(unmasking.scripted.canvas, {}, commit(2));
  CHECK(unmasking.choose() == Positions{2, 0});
  CHECK(unmasking.unmasker->state() == "0/1");
  Canvas filled(5, {});
  for (std::int32_t i = 0; i < 5; ++i) filled.commit(i, 0, true);
  unmasking.unmasker->observe(filled, {}, Verdict());  // This step could only edit.
  CHECK(unmasking.unmasker->state() == "0/1");
  unmasking.scripted.window.block = 1;
  CHECK(unmasking.choose().size() == 3);
}

TEST_CASE("threshold: all that is more probable, at least the quota") {
  CHECK(Committing("threshold", "", 0, .6).choose() == Positions{2, 0, 4});
  CHECK(Committing("threshold", "", 0, .6).preview() == 3);
  CHECK(Committing("threshold", "", 0, .9).choose() == Positions{2});  // The bound is strict.
  CHECK(Committing("threshold", "", 0, .99).choose() == Positions{2});
  CHECK(Committing("threshold", "", 0, .99).preview() == 0);
  CHECK(Committing("threshold", "", 2, .9).choose() == Positions{2, 0, 4});
  Committing drawn("threshold", "", 0, .4);
  drawn.scripted.decode.reads = Reads::drawn;
  drawn.scripted.step().readings(drawn.proposal);
  CHECK(drawn.choose() == Positions{2, 0});  // The numbers are .475, .45 and .35.
}

TEST_CASE("a drafted end of text is read as less sure: at 0 it is committed last") {
  const auto chosen = [](double confidence, std::int32_t end) {
    Committing ends("threshold", "", 0, .6);
    ends.proposal.nodes[static_cast<std::size_t>(end)].token = 1;
    ends.proposal.raw[static_cast<std::size_t>(end)] = of({.1, .8, .1});
    ends.scripted.models.resize(1);
    ends.scripted.models[0].stops = {1};
    ends.scripted.decode.end_confidence = confidence;
    ends.scripted.step().readings(ends.proposal);
    return ends.choose();
  };
  CHECK(chosen(1, 1) == Positions{2, 0, 1, 4});
  CHECK(chosen(.5, 1) == Positions{2, 0, 4, 1});  // .4 of .6 is two thirds.
  CHECK(chosen(.25, 1) == Positions{2, 0, 4});    // .2 of .4 is half.
  CHECK(chosen(0, 1) == Positions{2, 0, 4});
  CHECK(chosen(0, 2) == Positions{0, 4});
}

TEST_CASE("a certain end of text is never the surest draft where ends count for nothing") {
  Committing ends("one", "which = confident");
  ends.proposal.nodes[2].token = 1;
  ends.proposal.raw[2] = of({0, 1, 0});
  ends.scripted.models.resize(1);
  ends.scripted.models[0].stops = {1};
  CHECK(ends.choose() == Positions{2});
  ends.scripted.decode.end_confidence = 0;
  ends.scripted.step().readings(ends.proposal);
  CHECK(ends.choose() == Positions{0});
}

TEST_CASE("ends are read from what was drawn from, where nothing else is") {
  Committing ends("threshold", "", 0, .3);
  ends.proposal.raw.clear();
  ends.scripted.models.resize(1);
  ends.scripted.models[0].stops = {0};
  CHECK(ends.choose() == Positions{2, 0, 4});  // The numbers are .475, .45 and .35.
  ends.scripted.decode.end_confidence = .5;
  ends.scripted.step().readings(ends.proposal);
  CHECK(ends.choose() == Positions{2});  // .2375 of .7625 is .31.
}

TEST_CASE(
    "a verified step that owes nothing is left alone, another is topped up from the drafts that "
    "are left") {
  CHECK(Committing("threshold").top_up({{1, 2}}) == Positions{1});
  CHECK(Committing("threshold").top_up({}) == Positions{2, 0, 4});  // Nothing was committed.
  CHECK(Committing("threshold", "", 2, .99).top_up({{2, 0}}) ==
        Positions{2, 0, 4});  // Two of three are owed.
  CHECK(Committing("threshold", "", 2).top_up({{1, 0}, {3, 0}}) ==
        Positions{1, 3, 2, 0, 4});  // One is owed, three are sure.
  CHECK(Committing("static", "", 2).top_up({{1, 0}, {3, 0}}) == Positions{1, 3, 2});
  CHECK(Committing("static", "", 1).top_up({{0, 0}, {1, 0}, {2, 0}, {3, 0}}) ==
        Positions{0, 1, 2, 3, 4});
}

// Entropies: .325, .693, .199, .693, .611 nats.
TEST_CASE(
    "entropy-bound: rising entropy while the sum without the largest stays within the bound") {
  CHECK(Committing("entropy-bound", "bound = 0").choose() == Positions{2});
  // The sums are .199 and then .524.
  CHECK(Committing("entropy-bound", "bound = 0.3").choose() == Positions{2, 0});
  // The sum is then 1.135.
  CHECK(Committing("entropy-bound", "bound = 0.6").choose() == Positions{2, 0, 4});
  CHECK(Committing("entropy-bound", "bound = 1.2").choose() == Positions{2, 0, 4, 1});
  CHECK(Committing("entropy-bound", "bound = 9").preview() == 5);
  // A sum that equals the bound stays within it.
  const double least = of({.95, 1 - .95, 0}).entropy();
  CHECK(Committing("entropy-bound", fmt::format("bound = {:.17g}", least)).choose() ==
        Positions{2, 0});
}

}  // namespace
}  // namespace draftlab
