// The text of a decode, and what counts as a difference between two of them.
#include "analysis/inspect/trajectory_text.h"

#include <doctest/doctest.h>

namespace draftlab {
namespace {

Prompt made_prompt() {
  Prompt prompt;
  prompt.id = "p";
  prompt.length = 4;
  prompt.given = {{1, 7}};
  return prompt;
}
const Prompt kPrompt = made_prompt();

SampleRow shown_step() {
  SampleRow sample;
  sample.generated = 2;
  sample.counts[Kind::draft].calls = 1;
  StepRow step;
  step.masked = 3, step.span = 2, step.drafted = 2, step.exact = 1;
  step.accepted = 1, step.committed = 2, step.routed = 1, step.score = 1.239;
  step.counts = sample.counts;
  DraftRow draft;
  draft.position = 2, draft.token = 5, draft.q = 0.25, draft.p = 0.5, draft.accept = 1;
  draft.accepted = 1;
  step.drafts = {draft};
  TokenRow token;
  token.position = 2, token.token = 5;
  step.tokens = {token};
  token.position = 0;
  token.value = Eigen::VectorXd::Constant(5, -0.5);
  step.tokens.push_back(token);
  sample.steps = {step};
  return sample;
}

const auto kSpell = [](Token token) { return std::to_string(token); };

TEST_CASE("a trajectory says what was drafted, decided, committed and left") {
  CHECK(trajectory_text(shown_step(), kPrompt, kSpell) ==
        "prompt p\ncanvas \u25A1 7 \u25A1 \u25A1\n"
        "\nstep 0: block 0, window of 2 of 3 masked, 2 drafted, of which 1 exact\n"
        "  draft 2: 5 q 0.25 p 0.50 accepted at 1.00\n"
        "  route: verify score 1.24\n"
        "  accepted 1, committed 2, stop: " +
            std::string(name(Stop{})) +
            "; forwards: draft 1\n"
            "  commit 2: 5 (" +
            std::string(name(Source{})) + ")\n  commit 0: (-0.50 -0.50 -0.50 ...) (" +
            std::string(name(Source{})) +
            ")\n  canvas \u25A0 7 5 \u25A1\n"
            "\n2 tokens in 1 steps; forwards: draft 1\n");
}

TEST_CASE("a difference is another word, or a number that rounding does not explain") {
  const std::string stored = "a 1\n  draft 2: 5 q 0.25 (-0.50 1.00)\nend\n";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = stored;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(difference(stored, stored) == "");
  CHECK(difference(stored, with("0.25", "0.26")) == "");
  CHECK(difference(stored, with("(-0.50", "(-0.49")) == "");
  CHECK(difference(stored, with("0.25", "0.27")) ==
        "line 2: '  draft 2: 5 q 0.25 (-0.50 1.00)', but '  draft 2: 5 q 0.27 (-0.50 1.00)'");
  CHECK(difference(stored, with("2: 5", "2: 6")) != "");
  CHECK(difference(stored, with("a 1", "a 2")) == "line 1: 'a 1', but 'a 2'");
  CHECK(difference(stored, with("end\n", "")) == "line 3: 'end', but 'the end'");
  CHECK(difference(with("0.25", "1000.25"), with("0.25", "1001.00")) == "");
}

TEST_CASE("what is signed is everything but the numbers of floating point") {
  const std::string text = "draft 2: 5 q 0.25 at (0.50\n";
  CHECK(without_numbers(text) == without_numbers("draft 2: 5 q 0.31 at (-0.75\n"));
  CHECK(without_numbers(text) != without_numbers("draft 3: 5 q 0.25 at (0.50\n"));
  CHECK(without_numbers("v1.25\n") != without_numbers("v1.26\n"));
}

}  // namespace
}  // namespace draftlab
