#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
using Tokens = std::vector<Token>;

struct Lookup : testing::ScriptedStep {
  Lookup(const Tokens& text, int masks, int draft_length)
      : testing::ScriptedStep(committed(text, masks)) {
    for (int i = 0; i < masks; ++i)
      window.positions.push_back(static_cast<std::int32_t>(text.size()) + i);
    window.span = masks;
    decode.draft_length = draft_length;
    vocabulary = 10;
  }
  static Canvas committed(const Tokens& text, int masks) {
    std::vector<std::pair<std::int32_t, Token>> prompt;
    for (const Token token : text)
      prompt.emplace_back(static_cast<std::int32_t>(prompt.size()), token);
    return Canvas(static_cast<int>(text.size()) + masks, prompt);
  }
  Proposal propose(const std::string& options = "") {
    chance = SampledChance(1);  // A proposal of its own, not the next of one decode.
    const auto drafter = testing::part(&Registries::drafters, "prompt-lookup", options);
    return run(drafter->propose(step()),
               {{window.positions.front(), of({1, 0, 0, 0, 0, 0, 0, 0, 0, 0})}});
  }
};

Tokens proposed(const Proposal& proposal) {
  Tokens tokens;
  for (const Node& node : proposal.nodes) tokens.push_back(node.token);
  return tokens;
}

TEST_CASE("the longest ending that occurs before is continued, as point masses") {
  // The ending 3 1 2 never occurs before, but 1 2 does, and 3 1 2 follows it.
  Lookup lookup({1, 2, 3, 1, 2}, 4, 3);
  const Proposal proposal = lookup.propose();
  CHECK(proposed(proposal) == Tokens{3, 1, 2});
  CHECK(proposal.drawn_from.empty());
  CHECK(proposal.exact == 0);
  CHECK_FALSE(lookup.asked);
  CHECK(lookup.target.counts()[Kind::aux].calls == 1);
}

TEST_CASE(
    "a continuation must be whole, unless a shorter one will do; without any the target draws") {
  Lookup lookup({1, 2, 3, 1, 2}, 6, 4);
  const Proposal none = lookup.propose();
  CHECK(proposed(none) == Tokens{0});
  CHECK(none.exact == 1);
  CHECK(lookup.asked);
  CHECK(proposed(lookup.propose("full = false\n")) == Tokens{3, 1, 2});
  CHECK(proposed(Lookup({1, 2, 3}, 3, 2).propose()) == Tokens{0});
}

TEST_CASE("the earliest, the latest or the most frequent continuation") {
  const Tokens text = {1, 5, 1, 6, 1, 6, 1, 7, 1};
  CHECK(proposed(Lookup(text, 3, 1).propose()) == Tokens{5});
  CHECK(proposed(Lookup(text, 3, 1).propose("match = latest\nlongest = 1\n")) == Tokens{7});
  CHECK(proposed(Lookup(text, 3, 1).propose("match = frequent\n")) == Tokens{6});
}

TEST_CASE("a continuation that occurs twice is one of the rows") {
  // After 1 came 8 9, and 5 6 twice.
  const Tokens text = {1, 8, 9, 1, 5, 6, 1, 5, 6, 1};
  CHECK(proposed(Lookup(text, 3, 2).propose("rows = 2\nlongest = 1\nmatch = latest\n")) ==
        Tokens{5, 6, 8, 9});
}

TEST_CASE("several continuations are paths that share what they begin with") {
  // After 1 came 5 6, 5 7 and 8 1.
  const Proposal proposal =
      Lookup({1, 5, 6, 1, 5, 7, 1, 8, 1}, 3, 2).propose("rows = 3\nlongest = 1\n");
  CHECK(proposed(proposal) == Tokens{5, 6, 7, 8, 1});
  CHECK(proposal.nodes[0].parent == kRoot);
  CHECK(proposal.nodes[1].parent == 0);
  CHECK(proposal.nodes[2].parent == 0);
  CHECK(proposal.nodes[3].parent == kRoot);
  CHECK(proposal.nodes[4].parent == 3);
  CHECK(proposal.nodes[3].position == 9);
  CHECK(Lookup({1, 5, 6, 1, 5, 7, 1, 8, 1}, 3, 2).propose("rows = 1\nlongest = 1\n").nodes.size() ==
        2);
}

TEST_CASE("an ending cannot be shorter than the shortest and longer than the longest") {
  CHECK_THROWS_AS(Lookup({1}, 1, 1).propose("shortest = 4\n"), ConfigError);
}

}  // namespace
}  // namespace draftlab
