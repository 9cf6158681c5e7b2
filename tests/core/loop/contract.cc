#include "core/loop/contract.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/base/error.h"
#include "tests/core/loop/toy.h"

namespace draftlab {
namespace {

// What is said of two drafts, of positions 4 and 5 of eight, after `spoil` has changed them.
// Position 6 holds a token.
std::string said(const std::function<void(Proposal&)>& spoil) {
  Proposal proposal;
  proposal.nodes = {{kRoot, 4, 0}, {0, 5, 2}};
  proposal.drawn_from = {Distribution::point(0, 3), Distribution::point(2, 3)};
  proposal.exact = 1;
  spoil(proposal);
  try {
    const std::vector<std::pair<std::int32_t, Token>> given = {{6, 1}};
    check_proposal({"drafter", "mine"}, proposal, Canvas(8, given), 3);
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "";
}

TEST_CASE("a proposal that breaks the contract of drafters is a fault that names the drafter") {
  CHECK(said([](Proposal&) {}) == "");
  CHECK(said([](Proposal& p) { p.nodes[1] = {kRoot, 4, 2}; }) == "");  // They are siblings.
  CHECK(said([](Proposal& p) { p.nodes[1].parent = 1; }) ==
        "drafter 'mine' puts draft 1 on the unknown node 1");
  CHECK(said([](Proposal& p) { p.nodes[0].parent = -2; }) ==
        "drafter 'mine' puts draft 0 on the unknown node -2");
  CHECK(said([](Proposal& p) { p.nodes[1].position = 6; }) ==
        "drafter 'mine' drafts position 6, which holds a token");
  CHECK(said([](Proposal& p) { p.nodes[1].position = 8; }) ==
        "drafter 'mine' drafts position 8 of a canvas of 8");
  CHECK(said([](Proposal& p) { p.nodes[1].position = -1; }) ==
        "drafter 'mine' drafts position -1 of a canvas of 8");
  CHECK(said([](Proposal& p) { p.nodes[1].position = 4; }) ==
        "drafter 'mine' drafts position 4 twice on one path");
  CHECK(said([](Proposal& p) { p.nodes[0].token = 3; }) ==
        "drafter 'mine' drafts token 3 of a vocabulary of 3");
  CHECK(said([](Proposal& p) { p.nodes[0].token = kNoToken; }) ==
        "drafter 'mine' drafts token -1 of a vocabulary of 3");
  CHECK(said([](Proposal& p) { p.drawn_from.pop_back(); }) ==
        "drafter 'mine' gives 1 distributions for 2 drafts");
  CHECK(said([](Proposal& p) { p.raw = p.drawn_from, p.raw.push_back(p.raw[0]); }) ==
        "drafter 'mine' gives 3 distributions for 2 drafts");
  CHECK(said([](Proposal& p) { p.exact = 3; }) == "drafter 'mine' calls 3 of 2 drafts exact");
  CHECK(said([](Proposal& p) { p.exact = -1; }) == "drafter 'mine' calls -1 of 2 drafts exact");
}

// Positions 1 and 2 hold token 5, tentatively; the step commits positions 3 and 4.
TEST_CASE("what an unmasker may not take back is a fault that names it") {
  Canvas canvas(6, {});
  canvas.commit(0, 5);
  canvas.commit(1, 5, true);
  canvas.commit(2, 5, true);
  std::vector<Commit> commits = {{3, 5}, {4, 5}};
  const auto said = [&](const std::vector<Commit>& taken_back, bool late = true) -> std::string {
    Verdict verdict;
    verdict.commits = commits;
    verdict.taken_back = taken_back;
    try {
      check_taken_back({"unmasker", "mine"}, verdict, canvas, late);
    } catch (const Fault& fault) {
      return fault.what();
    }
    return "";
  };
  CHECK(said({}) == "");
  CHECK(said({{1, 5}}) == "");
  CHECK(said({{1, 5}, {2, 5}}, false) == "");
  CHECK(said({{1, 5}, {2, 5}}) ==
        "unmasker 'mine' commits 2 tokens in a step and takes 2 back; decoding would not end");
  CHECK(said({{0, 5}}) ==
        "unmasker 'mine' takes back token 5 at position 0, which is not tentative there");
  CHECK(said({{1, 4}}).find("takes back token 4 at position 1") != std::string::npos);
  CHECK(said({{9, 5}}).find("position 9") != std::string::npos);
  CHECK(said({{1, 5}, {1, 5}}, false) ==
        "unmasker 'mine' takes back position 1 in the step that commits it, or twice");
  commits.push_back({1, 5});
  CHECK(said({{1, 5}}) ==
        "unmasker 'mine' takes back position 1 in the step that commits it, or twice");
}

TEST_CASE("what masked positions show: masked ones, once, and not for ever") {
  const std::vector<std::pair<std::int32_t, Token>> given = {{0, 5}};
  Canvas canvas(5, given);
  const Window window{{1, 2, 3, 4}};
  const Blocks blocks;
  const DecodeOptions decode;
  toy::OfPositions::Memory target(canvas);
  const std::optional<Carry> carry;
  SampledChance chance(1);
  Mailbox mailbox;
  const Step step{.canvas = canvas,
                  .window = window,
                  .blocks = blocks,
                  .decode = decode,
                  .carry = carry,
                  .chance = chance,
                  .mailbox = mailbox,
                  .clock = 7,
                  .vocabulary = 6,
                  .target = target};
  const auto said = [&](std::vector<Commit> commits, std::vector<Commit> shown, bool shows = true,
                        bool late = false) -> std::string {
    Verdict verdict;
    verdict.commits = std::move(commits);
    verdict.shown = std::move(shown);
    try {
      check_shown({"unmasker", "mine"}, verdict, step, shows, late);
    } catch (const Fault& fault) {
      return fault.what();
    }
    return "";
  };
  CHECK(said({}, {{1, 5}, {2, 5}}) == "");
  CHECK(said({}, {{1, 5}}, false) ==
        "unmasker 'mine' says what masked positions show, and does not say that it `shows`");
  CHECK(said({}, {{0, 5}}).find("position 0, which holds a token") != std::string::npos);
  CHECK(said({{1, 5}}, {{1, 5}}).find("position 1 twice") != std::string::npos);
  CHECK(said({}, {{1, 6}}).find("shows token 6 of a vocabulary of 6") != std::string::npos);
  CHECK(said({{1, 5}}, {}, true, true) == "");
  CHECK(said({}, {}, false, true) == "");
  CHECK(said({}, {}, true, true) ==
        "unmasker 'mine' commits nothing in step 7, when its schedule is over; decoding would not "
        "end");
}

TEST_CASE("a model with a mask token reads no random canvas") {
  ModelFacts facts;
  facts.vocabulary = 3;
  facts.random_canvas = true;
  CHECK_NOTHROW(check_facts({"model", "mine"}, facts));
  facts.mask = 2;
  CHECK_THROWS_AS(check_facts({"model", "mine"}, facts), Fault);
}

TEST_CASE("a model ends texts with tokens of its vocabulary, from the first to the last") {
  const auto said = [](const std::vector<Token>& stops) -> std::string {
    ModelFacts facts;
    facts.vocabulary = 3;
    facts.stops = stops;
    try {
      check_facts({"model", "mine"}, facts);
    } catch (const Fault& fault) {
      return fault.what();
    }
    return "";
  };
  CHECK(said({}) == "");
  CHECK(said({0, 2}) == "");
  CHECK(said({0, 3}) == "model 'mine' ends a text with token 3, and its vocabulary has 3");
  CHECK(said({-1}) == "model 'mine' ends a text with token -1, and its vocabulary has 3");
}

// Sums of probabilities are rounded, so a billionth above 1 is allowed.
TEST_CASE("a rule that accepts with what is no probability is a fault that names it") {
  struct Rule final : Acceptance {
    double value = 0;
    double probability(const Trial&) const override { return value; }
    Distribution replacement(const Trial&) const override { return {}; }
    bool judges_densities() const override { return true; }
    double probability(double, double) const override { return value; }
    double replaces(double, double) const override { return value; }
  };
  Rule rule;
  const Author author{"acceptance", "mine"};
  const CheckedAcceptance checked(rule, author);
  for (const double good : {0.0, 0.5, 1.0, 1 + 1e-9}) {
    rule.value = good;
    CHECK(checked.probability(-1, -2) == good);
    CHECK(checked.replaces(-1, -2) == good);
  }
  for (const double bad : {-1e-9, 1 + 2e-9, std::numeric_limits<double>::quiet_NaN()}) {
    rule.value = bad;
    CAPTURE(bad);
    CHECK_THROWS_AS(checked.probability(-1, -2), Fault);
    CHECK_THROWS_AS(checked.replaces(-1, -2), Fault);
  }
}

}  // namespace
}  // namespace draftlab
