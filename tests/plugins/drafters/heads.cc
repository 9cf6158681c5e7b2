#include <doctest/doctest.h>

#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// Position 0 is committed, four masks follow; head i says token i % 3 with certainty.
struct HeadsDrafting : testing::ScriptedStep {
  HeadsDrafting() : testing::ScriptedStep(committed()) {
    window = {.positions = {1, 2, 3, 4}, .span = 4};
    decode.draft_length = 3;
  }
  static Canvas committed() {
    Canvas canvas(5, {});
    canvas.commit(0, 1);
    return canvas;
  }
  Proposal propose(const std::string& options = "") {
    chance = SampledChance(1);  // A proposal of its own, not the next of one decode.
    const auto drafter = testing::part(&Registries::drafters, "heads", options);
    return run(drafter->propose(step()),
               {{1, of({0, 1, 0})}, {2, of({0, 0, 1})}, {3, of({1, 0, 0})}});
  }
};

TEST_CASE(
    "without a carry the heads are asked at the committed state; head 1 is the target's own draw") {
  HeadsDrafting drafting;
  const Proposal proposal = drafting.propose();
  REQUIRE(drafting.asked);
  CHECK(drafting.asked->kind == Kind::draft);
  CHECK(drafting.asked->form() == Form::committed);
  CHECK(drafting.asked->asks[0].positions == std::vector<std::int32_t>{1, 2, 3});
  REQUIRE(proposal.nodes.size() == 3);
  CHECK(proposal.nodes[0].token == 1);
  CHECK(proposal.nodes[1].token == 2);
  CHECK(proposal.nodes[2].token == 0);
  CHECK(proposal.exact == 1);
  CHECK(proposal.lookahead == 3);
  CHECK(drafting.propose("shortcut = false\n").exact == 0);
  CHECK(drafting.propose("combined = false\n").lookahead == 0);
}

TEST_CASE(
    "the answer at the stopping node is the next proposal; behind a replacement head 1 is not the "
    "target") {
  HeadsDrafting drafting;
  Carry carry{{}, 1, 0};
  carry.answer.add(0, 1, of({1, 0, 0}));  // This answer belongs to another node.
  carry.answer.add(1, 1, of({0, 0, 1}));
  carry.answer.add(1, 2, of({0, 1, 0}));
  drafting.carry = carry;
  Proposal proposal = drafting.propose();
  CHECK_FALSE(drafting.asked);
  REQUIRE(proposal.nodes.size() == 2);
  CHECK(proposal.nodes[0].token == 2);
  CHECK(proposal.nodes[1].token == 1);
  CHECK(proposal.exact == 1);
  drafting.carry->unseen_commits = 1;
  CHECK(drafting.propose().exact == 0);
  CHECK(drafting.propose("combined = false\n").nodes.size() == 3);  // The heads are asked anew.
}

// Five unknowns of a table, greedily.
SampleRow decode(const std::string& lines) {
  Registries registries;
  register_builtin_plugins(registries);
  Diagnostics diagnostics;
  const Composition arm = compose(
      Config::parse("model = table\ntask = positions\nfrontier = left-to-right\ndrafter = "
                    "heads\nacceptance = exact-match\n[acceptance.exact-match]\n"
                    "replace = false\n[model.table]\nkind = views\nlength = "
                    "6\n[task.positions]\nlength = 6\nprompt = 0:0\n[decode]\ntemperature = 0\n" +
                        lines,
                    "test.ini", diagnostics),
      registries, diagnostics);
  diagnostics.raise();
  Loaded loaded;
  const Models models = load_models(arm, arm.run.machine, loaded);
  const auto task = arm.task.make();
  task->load(nullptr);
  SampledChance chance(1);
  Decoder decoder(arm, models, task->prompt(0), {chance, 1});
  return drive(models, decoder, decoder.decode());
}

TEST_CASE(
    "forwards: iterations + 1 as published, at most one a token where head 1 needs no test, two an "
    "iteration apart") {
  for (int seed = 0; seed < 12; ++seed) {
    for (int k = 1; k <= 4; ++k) {
      CAPTURE(seed);
      CAPTURE(k);
      const std::string lines = "draft_length = " + std::to_string(k) +
                                "\n[model.table]\nseed = " + std::to_string(seed) +
                                "\n[drafter.heads]\n";
      const SampleRow published = decode(lines + "shortcut = false\n"), untested = decode(lines),
                      apart = decode(lines + "shortcut = false\ncombined = false\n");
      CHECK(published.counts.nfe() == published.iterations + 1);
      CHECK(published.counts[Kind::draft].calls == 1);  // The first call only proposes.
      CHECK(untested.counts.nfe() <= 5);
      CHECK(untested.iterations == published.iterations);
      CHECK(apart.counts.nfe() == 2 * apart.iterations);
      CHECK(apart.iterations == published.iterations);
      if (k == 1) {
        CHECK(published.counts.nfe() == 6);  // That is m + 1.
        CHECK(untested.counts.nfe() == 5);   // That is m.
      }
    }
  }
}

}  // namespace
}  // namespace draftlab
