// An acceptance rule that lives in another process.
#include "plugins/remote/remote_parts.h"

namespace draftlab::remote {
namespace {

class RemoteAcceptance final : public RemotePart<Acceptance> {
 public:
  using RemotePart::RemotePart;

  double probability(const Trial& trial) const override {
    Scope scope(&decode_);
    return number(remote_->call("probability", described(trial, scope), &scope), 0, 1,
                  "an acceptance probability");
  }

  Distribution replacement(const Trial& trial) const override {
    Scope scope(&decode_);
    const Message answer = remote_->call("replacement", described(trial, scope), &scope);
    return understood(*remote_, answer, [&](const Message& said) -> Distribution {
      const Json& from = said.header.at("r");
      if (from.is_null()) return {};
      Distribution law = scope.resolve(from, said);
      if (law.size() != trial.target.size())
        remote_->refuse("replaces a draft from {} tokens, and the vocabulary has {}", law.size(),
                        trial.target.size());
      return law;
    });
  }

 private:
  static Message described(const Trial& trial, Scope& scope) {
    Message message;
    const double p = trial.target.probability(trial.token);
    const double q = trial.drawn_from ? trial.drawn_from->probability(trial.token) : 1;
    Json drawn_from;
    if (trial.drawn_from) drawn_from = scope.keep(*trial.drawn_from);
    message.header["trial"] = {trial.token,
                               p,
                               q,
                               trial.depth,
                               trial.target.size(),
                               scope.keep(trial.target),
                               scope.keep(trial.raw),
                               drawn_from};
    return message;
  }
};

}  // namespace

std::unique_ptr<Acceptance> make_acceptance(Instance remote) {
  return std::make_unique<RemoteAcceptance>(std::move(remote));
}

}  // namespace draftlab::remote
