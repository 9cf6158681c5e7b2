// How the decoder calls its parts: what they throw names them, and what they return is checked.
#include "core/loop/contract.h"
#include "core/loop/decoder.h"

namespace draftlab {
namespace {

template <class Interface>
Author author_of(const char* kind, const Factory<Interface>& made) {
  return {kind, made.name, made.plugin};
}

// How often a model was asked in a sequence, for whatever reason.
std::int64_t evaluations(const Sequence& sequence) {
  std::int64_t calls = 0;
  for (const Count& count : sequence.counts().of) calls += count.calls;
  return calls;
}

}  // namespace

Decoder::Authors::Authors(const Arm& arm)
    : frontier(author_of("frontier", arm.frontier)),
      drafter(author_of("drafter", arm.drafter)),
      verifier(author_of("verifier", arm.verifier)),
      acceptance(author_of("acceptance", arm.acceptance)),
      router(author_of("router", arm.router)),
      unmasker(author_of("unmasker", arm.unmasker)) {
  if (arm.estimator) estimator = author_of("estimator", *arm.estimator);
  for (const auto& [name, made] : arm.attached) attached.push_back(author_of("estimator", made));
}

double Decoder::expected(const Author& author, const Estimator& estimator, const StepView& view) {
  const double drafts = in_name_of(author, [&] { return estimator.expected(view); });
  check_expected(author, drafts);
  return drafts;
}

int Decoder::preview(const Step& step, const Proposal& proposal) const {
  if (proposal.nodes.empty()) return 0;
  const int sure =
      in_name_of(authors_.unmasker, [&] { return unmasker_->preview(step, proposal); });
  check_preview(authors_.unmasker, sure, proposal);
  return sure;
}

Window Decoder::opened() const {
  Window window = in_name_of(authors_.frontier, [&] { return frontier_->next(canvas_); });
  check_window(authors_.frontier, window, canvas_);
  return window;
}

Asking<Proposal> Decoder::proposed(const Step& step) const {
  const std::int64_t asked = evaluations(*sequences_[0]);
  Proposal proposal;
  try {
    proposal = co_await drafter_->propose(step);
  } catch (...) {
    rethrow_in_name_of(authors_.drafter);
  }
  check_proposal(authors_.drafter, proposal, canvas_, step.vocabulary);
  if (proposal.exact > 0 && !carry_ && evaluations(*sequences_[0]) == asked)
    authors_.drafter.blame("calls {} drafts exact, and the target was not asked", proposal.exact);
  co_return proposal;
}

Route Decoder::routed(const StepView& view) const {
  if (router_->reads_expected()) check_readable(authors_.router, view.expected);
  const Route route = in_name_of(authors_.router, [&] { return router_->decide(view); });
  check_route(authors_.router, route);
  return route;
}

Asking<Verdict> Decoder::judged(const Step& step, const Proposal& proposal) const {
  const CheckedAcceptance acceptance(*acceptance_, authors_.acceptance);
  Verdict verdict;
  try {
    verdict = co_await verifier_->judge(step, proposal, acceptance);
  } catch (...) {
    rethrow_in_name_of(authors_.verifier);
  }
  check_verdict(authors_.verifier, verdict, proposal, step);
  co_return verdict;
}

Verdict Decoder::chosen(const Step& step, const Proposal& proposal) const {
  Verdict verdict =
      in_name_of(authors_.unmasker, [&] { return unmasker_->choose(step, proposal); });
  check_verdict(authors_.unmasker, verdict, proposal, step);
  return verdict;
}

Verdict Decoder::topped_up(const Step& step, const Proposal& proposal, Verdict verdict) const {
  Verdict whole = in_name_of(authors_.unmasker,
                             [&] { return unmasker_->top_up(step, proposal, std::move(verdict)); });
  check_verdict(authors_.unmasker, whole, proposal, step);
  return whole;
}

void Decoder::finish_settled() {
  const std::vector<std::int32_t> settled =
      in_name_of(authors_.frontier, [&] { return frontier_->settled(canvas_); });
  check_settled(authors_.frontier, settled, canvas_);
  for (const std::int32_t position : settled) canvas_.finish(position);
}

}  // namespace draftlab
