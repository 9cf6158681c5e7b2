#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// Drafts token 0 at the three masks 1, 2 and 3, each with probability one half; what lies left of them is committed.
struct Judging {
  testing::ScriptedStep scripted;
  Proposal proposal;

  Judging(int span, Stop boundary) : scripted(canvas()) {
    scripted.window = {.positions = {1, 2, 3}, .span = span, .boundary = boundary, .block = 0};
    for (std::int32_t i = 0; i < 3; ++i) {
      proposal.nodes.push_back({i - 1, i + 1, 0});
      proposal.drawn_from.push_back(of({.5, .5, 0}));
    }
  }
  static Canvas canvas() {
    Canvas canvas(4, {});
    canvas.commit(0, 1);
    return canvas;
  }
  // The verdict of a target that gives every draft probability `p`, and the rest to token 2.
  Verdict judge(double p, const std::string& acceptance = "") {
    const auto verifier = testing::part(&Registries::verifiers, "chain");
    const auto rule = testing::part(&Registries::acceptance, "speculative", acceptance);
    const Distribution target = of({p, 0, 1 - p});
    return scripted.run(verifier->judge(scripted.step(), proposal, *rule), {{1, target}, {2, target}, {3, target}});
  }
};

TEST_CASE("a fully accepted span says why it ends where it does") {
  CHECK(Judging(3, Stop::block_end).judge(1).why == Stop::block_end);
  CHECK(Judging(2, Stop::window_end).judge(1).why == Stop::window_end);
  CHECK(Judging(2, Stop::window_end).judge(1).commits.size() == 2);
  CHECK(Judging(3, Stop::complete).judge(1).why == Stop::complete);
  Judging short_of_it(3, Stop::block_end);
  short_of_it.proposal.nodes.resize(2);
  CHECK(short_of_it.judge(1).why == Stop::complete);
}

TEST_CASE("only the span is asked, each draft at those before it") {
  Judging judging(2, Stop::window_end);
  judging.judge(1);
  REQUIRE(judging.scripted.asked);
  CHECK(judging.scripted.asked->kind == Kind::verify);
  CHECK(judging.scripted.asked->nodes.size() == 1);
  REQUIRE(judging.scripted.asked->asks.size() == 2);
  CHECK(judging.scripted.asked->asks[0].node == kRoot);
  CHECK(judging.scripted.asked->asks[1].node == 0);
}

TEST_CASE("a rejected draft is replaced, left masked, or kept") {
  const Verdict replaced = Judging(3, Stop::block_end).judge(0);
  CHECK(replaced.why == Stop::wrong_token);
  REQUIRE(replaced.commits.size() == 1);
  CHECK(replaced.commits[0].token == 2);
  CHECK(replaced.commits[0].source == Source::resampled);
  CHECK(Judging(3, Stop::block_end).judge(0, "resample = false").commits.empty());
  const Verdict kept = Judging(3, Stop::block_end).judge(0, "resample = draft");
  REQUIRE(kept.commits.size() == 1);
  CHECK(kept.commits[0].token == 0);
  CHECK_FALSE(kept.judged[0].accepted);
}

}  // namespace
}  // namespace draftlab
