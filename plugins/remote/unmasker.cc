// An unmasker that lives in another process.
#include "plugins/remote/dialogue.h"
#include "plugins/remote/remote_parts.h"

namespace draftlab::remote {
namespace {

class RemoteUnmasker final : public RemotePart<Unmasker> {
 public:
  using RemotePart::RemotePart;

  Verdict choose(const Step& step, const Proposal& proposal) const override {
    return verdict("choose", step, proposal, {});
  }

  int preview(const Step& step, const Proposal& proposal) const override {
    if (!remote_->has("preview")) return 0;
    Scope scope(&step.decode);
    Message message = described(step, proposal, scope);
    const double sure = number(remote_->call("preview", std::move(message), &scope), 0,
                               static_cast<double>(proposal.nodes.size()), "confident drafts");
    return static_cast<int>(sure);
  }

  Verdict top_up(const Step& step, const Proposal& proposal, Verdict so_far) const override {
    if (!remote_->has("top_up")) return Unmasker::top_up(step, proposal, std::move(so_far));
    Message message;
    describe(so_far, message);
    const std::size_t before = so_far.commits.size();
    Verdict more = verdict("top_up", step, proposal, std::move(message));
    for (const Commit& commit : more.commits) {
      const bool again =
          std::any_of(so_far.commits.begin(), so_far.commits.end(),
                      [&](const Commit& made) { return made.position == commit.position; });
      if (again)
        remote_->refuse("tops up position {}, which the verdict has committed", commit.position);
    }
    so_far.commits.reserve(before + more.commits.size());
    for (Commit& commit : more.commits) so_far.commits.push_back(std::move(commit));
    return so_far;
  }

 private:
  static Message described(const Step& step, const Proposal& proposal, Scope& scope,
                           Message message = {}) {
    describe(step, message, scope);
    describe(proposal, message, scope);
    return message;
  }

  Verdict verdict(const char* method, const Step& step, const Proposal& proposal,
                  Message message) const {
    Scope scope(&step.decode);
    Dialogue dialogue(*remote_, step, scope);
    const Message& answer =
        dialogue.finish(method, described(step, proposal, scope, std::move(message)));
    return AnswerReader(*remote_, step).verdict(proposal, answer, scope);
  }
};

}  // namespace

std::unique_ptr<Unmasker> make_unmasker(Instance remote) {
  return std::make_unique<RemoteUnmasker>(std::move(remote));
}

}  // namespace draftlab::remote
