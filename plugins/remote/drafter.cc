// Drafters and verifiers that live in another process. Their generators yield questions, which are
// awaited here, so that those of a batch share a forward.
#include <cmath>

#include "plugins/remote/dialogue.h"
#include "plugins/remote/remote_parts.h"

namespace draftlab::remote {
namespace {

// Says so where a drafter calls its first draft the target's own draw, though the target did not
// say so: such a draft is committed untested, and the output follows another law.
void check_exact(const Remote& remote, const Proposal& proposal, Dialogue& dialogue, Scope& scope) {
  if (proposal.exact <= 0 || proposal.nodes.empty()) return;
  constexpr double kClose = 1e-6;
  const Node& first = proposal.nodes.front();
  const int told = dialogue.told(first.position);
  if (told < 0)
    return remote.doubt(
        "calls its first draft the target's own draw (`exact`), and did not ask the target for the "
        "law of position {}; such drafts are committed untested",
        first.position);
  const double p =
      scope.resolve({"drawn", told, nullptr, nullptr, nullptr}, {}).probability(first.token);
  const double q =
      proposal.drawn_from.empty() ? 1 : proposal.drawn_from.front().probability(first.token);
  if (std::abs(p - q) > kClose)
    remote.doubt(
        "calls its first draft the target's own draw (`exact`), and drew it with probability {:g} "
        "where the target has {:g}; such drafts are committed untested",
        q, p);
}

class RemoteDrafter final : public RemotePart<Drafter> {
 public:
  using RemotePart::RemotePart;
  std::vector<DecodeKey> reads() const override {
    std::vector<DecodeKey> read = RemotePart::reads();
    if (remote_->spec().reads_draft_length) read.push_back(DecodeKey::draft_length);
    return read;
  }
  std::vector<Form> asks_draft_model() const override { return remote_->spec().asks_draft_model; }

  Asking<Proposal> propose(const Step& step) const override {
    Scope scope(&step.decode);
    Dialogue dialogue(*remote_, step, scope);
    Message message;
    describe(step, message, scope);
    bool waits = dialogue.start("propose", std::move(message));
    while (waits) {
      Question question = dialogue.question;
      Answer answer = co_await step.ask(std::move(question), dialogue.model);
      waits = dialogue.resume(std::move(answer));
    }
    Proposal proposal = AnswerReader(*remote_, step).proposal(dialogue.result, scope);
    check_exact(*remote_, proposal, dialogue, scope);
    co_return proposal;
  }
};

class RemoteVerifier final : public RemotePart<Verifier> {
 public:
  using RemotePart::RemotePart;

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance& acceptance) const override {
    Scope scope(&step.decode);
    scope.judge_with(&acceptance);
    Dialogue dialogue(*remote_, step, scope);
    Message message;
    describe(step, message, scope);
    describe(proposal, message, scope);
    bool waits = dialogue.start("judge", std::move(message));
    while (waits) {
      Question question = dialogue.question;
      Answer answer = co_await step.ask(std::move(question), dialogue.model);
      waits = dialogue.resume(std::move(answer));
    }
    co_return AnswerReader(*remote_, step).verdict(proposal, dialogue.result, scope);
  }
};

}  // namespace

std::unique_ptr<Drafter> make_drafter(Instance remote) {
  return std::make_unique<RemoteDrafter>(std::move(remote));
}

std::unique_ptr<Verifier> make_verifier(Instance remote) {
  return std::make_unique<RemoteVerifier>(std::move(remote));
}

}  // namespace draftlab::remote
