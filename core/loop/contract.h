// What the loop checks of everything that a part returns, before it is recorded or others read it:
// a part's mistake is a sentence that names the part, and no crash, and no trace that lies.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/author.h"
#include "core/model/canvas.h"
#include "core/model/model.h"
#include "core/parts/acceptance.h"
#include "core/parts/proposal.h"
#include "core/parts/route.h"
#include "core/parts/step.h"
#include "core/parts/task.h"
#include "core/parts/verdict.h"
#include "core/parts/window.h"

namespace draftlab {

// No forward computes more rows or positions than this, so sums over a trace are exact.
inline constexpr std::int64_t kMostComputed = std::int64_t{1} << 40;

// All of these throw through Author::blame what breaks the contract (core/README.md).

// Positions are masked and named once, and the span holds no more of them than there are.
void check_window(const Author& frontier, const Window& window, const Canvas& canvas);
void check_settled(const Author& frontier, const std::vector<std::int32_t>& positions,
                   const Canvas& canvas);

// Drafts may stand beyond the window, where a drafter guesses what the next window will be.
void check_proposal(const Author& drafter, const Proposal& proposal, const Canvas& canvas,
                    int vocabulary);

// A router that reads the expected accepted prefix is given a finite one: no comparison with NaN is
// a decision.
void check_readable(const Author& router, double expected);
void check_route(const Author& router, const Route& route);
// An estimator that can tell nothing expects NaN.
void check_expected(const Author& estimator, double expected);
// N_hi is a number of drafts.
void check_preview(const Author& unmasker, int preview, const Proposal& proposal);

// What a verifier judged, or an unmasker chose or topped up, in a step. Unjudged probabilities are
// NaN.
void check_verdict(const Author& author, const Verdict& verdict, const Proposal& proposal,
                   const Step& step);
// What masked positions are to show: each is masked behind the commits and named once, by an
// unmasker that may say so, which commits something once the decoding is `late`.
void check_shown(const Author& unmasker, const Verdict& verdict, const Step& step, bool shows,
                 bool late);
// What an unmasker takes back: tentative tokens that stood there before the step, each once, and
// fewer than the step commits once the decoding is `late`.
void check_taken_back(const Author& unmasker, const Verdict& verdict, const Canvas& canvas,
                      bool late);

void check_facts(const Author& model, const ModelFacts& facts);
// A model is what it was when it was loaded.
void check_same(const Author& model, const ModelFacts& before, const ModelFacts& now);
// Each asked position is answered by a law over the vocabulary. The laws of a plugin are computed
// here; those of draftlab's own models when they are first read.
void check_answers(const Author& model, std::span<const Pending> batch, const ModelFacts& facts);

// Positions and tokens of a prompt. Whether the model knows the tokens is seen elsewhere.
void check_prompt(const Author& task, const Prompt& prompt);
void check_scores(const Author& task, const std::vector<Score>& scores);

// An acceptance rule whose probabilities and replacements are checked before a verifier reads them.
class CheckedAcceptance final : public Acceptance {
 public:
  // Both outlive this one.
  CheckedAcceptance(const Acceptance& rule, const Author& author) : rule_(rule), author_(author) {}
  bool exact() const override { return rule_.exact(); }
  bool judges_densities() const override { return rule_.judges_densities(); }
  double probability(const Trial& trial) const override;
  Distribution replacement(const Trial& trial) const override;
  double probability(double log_target, double log_drawn) const override;
  double replaces(double log_target, double log_drawn) const override;

 private:
  double checked(double probability) const;
  const Acceptance& rule_;
  const Author& author_;
};

}  // namespace draftlab
