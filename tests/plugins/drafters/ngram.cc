#include <doctest/doctest.h>

#include "core/config/composition.h"
#include "plugins/builtin.h"

using namespace draftlab;

namespace {

// Drafts over a canvas without a model: nothing is asked unless the block begins at position 0.
Proposal propose(const Canvas& canvas, int draft_length, std::vector<std::int32_t> positions = {}) {
  Registries registries;
  register_builtin_plugins(registries);
  Diagnostics diagnostics;
  const auto drafter =
      registries.drafters.find("ngram")
          ->bind(Config::parse("", "test.ini", diagnostics), "drafter.ngram", diagnostics)
          .make();
  if (positions.empty()) positions = canvas.masked_positions();
  const Window window{.positions = positions, .span = 2};
  DecodeOptions decode;
  decode.draft_length = draft_length;
  const std::optional<Carry> carry;
  SampledChance chance(1);
  Mailbox mailbox;
  Sequence target(canvas);
  const Blocks blocks;
  const Step step{.canvas = canvas,
                  .window = window,
                  .blocks = blocks,
                  .decode = decode,
                  .carry = carry,
                  .chance = chance,
                  .mailbox = mailbox,
                  .vocabulary = 4,
                  .target = target};
  Asking<Proposal> asking = drafter->propose(step);
  asking.start();
  REQUIRE(asking.done());
  CHECK(target.counts()[Kind::aux].calls == 1);
  CHECK(target.counts().nfe() == 0);
  return asking.take();
}

}  // namespace

TEST_CASE("n-gram drafts follow the visible bigrams") {
  // The text is a b a _ _.
  const std::vector<std::pair<std::int32_t, Token>> prompt{{0, 0}, {1, 1}, {2, 0}};
  const Proposal proposal = propose(Canvas(5, prompt), 2);
  REQUIRE(proposal.nodes.size() == 2);
  CHECK(proposal.nodes[0].token == 1);  // Only b follows a.
  CHECK(proposal.nodes[1].token == 0);  // The drafted b is followed by a.
  CHECK(proposal.drawn_from[0].probability(1) == 1);
  CHECK(proposal.exact == 0);
}

TEST_CASE("a token without a visible successor drafts from the visible tokens") {
  // The text is c c d _ _.
  const std::vector<std::pair<std::int32_t, Token>> prompt{{0, 2}, {1, 2}, {2, 3}};
  const Proposal proposal = propose(Canvas(5, prompt), 1);
  CHECK(proposal.drawn_from[0].probability(2) == doctest::Approx(2.0 / 3));
  CHECK(proposal.drawn_from[0].probability(3) == doctest::Approx(1.0 / 3));
  CHECK(proposal.drawn_from[0].probability(0) == 0);
}

TEST_CASE("the draft of another gap is nobody's left neighbour") {
  // a b a b _ d _ _, and the last position of each gap is drafted.
  const std::vector<std::pair<std::int32_t, Token>> prompt{{0, 0}, {1, 1}, {2, 0}, {3, 1}, {5, 3}};
  const Proposal proposal = propose(Canvas(8, prompt), 2, {4, 7});
  CHECK(proposal.nodes[0].token == 0);  // Only a follows b.
  // What stands left of the second is unknown, so it may be any of the visible tokens.
  CHECK(proposal.drawn_from[1].probability(0) == doctest::Approx(0.4));
  CHECK(proposal.drawn_from[1].probability(1) == doctest::Approx(0.4));
  CHECK(proposal.drawn_from[1].probability(3) == doctest::Approx(0.2));
}
