// The sequential baseline: one token a forward, drawn from the target itself, so there is nothing to verify.
#include "core/parts.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

class Stepwise final : public Drafter {
 public:
  bool reads_draft_length() const override { return false; }
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    const std::int32_t position = step.window.positions.front();
    Question question{.kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
    const Answer answer = co_await step.ask(std::move(question));
    const Distribution& raw = answer.at(kRoot, position);
    const Distribution drawn = step.drawn(raw);
    Proposal proposal;
    proposal.nodes = {{kRoot, position, step.chance.draw(drawn, step.site(position, Purpose::draft))}};
    proposal.drawn_from = {drawn};
    proposal.raw = {raw};
    proposal.exact = 1;
    co_return proposal;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(stepwise) {
  registries.drafters.add<draftlab::Stepwise>("stepwise", "one token a forward, drawn from the target: the sequential baseline");
}
