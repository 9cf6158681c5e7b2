// Parts are sent what they see: numbers in the header, arrays behind it, and distributions by
// number.
#include "plugins/remote/remote.h"

namespace draftlab::remote {
namespace {

void add(Message& message, const char* name, const NumbersView& column) {
  message.add(name, std::span(column.data(), static_cast<std::size_t>(column.size())));
}

}  // namespace

void describe(const Canvas& canvas, Message& message) {
  message.add("tokens", std::span<const Token>(canvas.tokens()));
  message.add("order", std::span<const std::int32_t>(canvas.order()));
  message.header["prompt_size"] = canvas.prompt_size();
  std::vector<std::int32_t> tentative;
  for (std::int32_t i = 0; i < canvas.length(); ++i)
    if (canvas.tentative(i)) tentative.push_back(i);
  if (!tentative.empty()) message.add("tentative", std::span<const std::int32_t>(tentative));
}

void describe(const StepView& view, Message& message) {
  message.header["step"] = {view.sequence,   view.span.first,  view.span.length,  view.block.index,
                            view.block.size, view.block.given, view.block.masked, view.step,
                            view.length,     view.masked,      view.vocabulary,   view.progress,
                            view.preview,    view.expected};
  add(message, "confidence", view.confidence);
  add(message, "margin", view.margin);
  add(message, "entropy", view.entropy);
  add(message, "renyi2", view.renyi2);
  if (view.spread.size() == 0) return;
  add(message, "spread", view.spread);
  add(message, "surprise", view.surprise);
  add(message, "deviation", view.deviation);
}

void describe(const Step& step, Message& message, Scope& scope) {
  describe(step.canvas, message);
  message.header["step"] = {step.sequence,    step.clock,         step.vocabulary,
                            step.window.span, step.window.block,  name(step.window.boundary),
                            step.blocks.size, step.blocks.origin, step.blocks.part};
  message.add("window", std::span<const std::int32_t>(step.window.positions));
  if (step.carry)
    message.header["carry"] = {scope.keep(step.carry->answer), step.carry->node,
                               step.carry->unseen_commits};
}

void describe(const Proposal& proposal, Message& message, Scope& scope) {
  std::vector<std::int32_t> nodes;
  for (const Node& node : proposal.nodes)
    nodes.insert(nodes.end(), {node.parent, node.position, node.token});
  message.add("nodes", std::span<const std::int32_t>(nodes), {proposal.nodes.size(), 3});
  const auto keep = [&](const std::vector<Distribution>& distributions) {
    Json first;
    for (const Distribution& distribution : distributions) {
      const int number = scope.keep(distribution);
      if (first.is_null()) first = number;
    }
    return first;
  };
  message.header["drawn_from"] = keep(proposal.drawn_from);
  message.header["raw"] = keep(proposal.raw);
  message.header["exact"] = proposal.exact;
  message.header["lookahead"] = proposal.lookahead;
}

void describe(const Verdict& verdict, Message& message) {
  std::vector<std::int32_t> commits;
  for (const Commit& commit : verdict.commits)
    commits.insert(commits.end(),
                   {commit.position, commit.token, static_cast<std::int32_t>(commit.source)});
  message.add("commits", std::span<const std::int32_t>(commits), {verdict.commits.size(), 3});
  std::vector<double> judged;
  for (const Judged& one : verdict.judged)
    judged.insert(judged.end(),
                  {one.target, one.drawn, one.accept, static_cast<double>(one.accepted),
                   static_cast<double>(one.reached)});
  message.add("judged", std::span<const double>(judged), {verdict.judged.size(), 5});
  message.header["why"] = name(verdict.why);
}

}  // namespace draftlab::remote
