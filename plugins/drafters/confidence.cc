// Self-drafting of a masked-diffusion model (SSD, Sec. 3.2.2). It drafts the model's most probable
// tokens at masked positions, in the order in which stepwise decoding would commit them if it
// learnt nothing new on the way. The drafts cost no forward: they come from what the model answered
// at the node where the last verification stopped. Where there is no such answer (the first step, a
// cache that is refreshed), the step is one of stepwise decoding, and its answer serves the next
// step.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/config/plugin.h"
#include "core/model/refreshed.h"
#include "core/parts/drafter.h"

namespace draftlab {
namespace {

// The answer that is drafted from: the last verification's, or one of the step's own.
enum class DraftedFrom { carry, pass };
constexpr std::array<std::string_view, 2> words(DraftedFrom) { return {"carry", "pass"}; }

// The token of a draft.
enum class Taken { argmax, drawn };
constexpr std::array<std::string_view, 2> words(Taken) { return {"argmax", "drawn"}; }

// Which positions are drafted first.
enum class Ranking { rule, confidence };
constexpr std::array<std::string_view, 2> words(Ranking) { return {"rule", "confidence"}; }

// What becomes of the last masks, too few for a whole draft.
enum class Tail { drafted, stepwise };
constexpr std::array<std::string_view, 2> words(Tail) { return {"short", "stepwise"}; }

class ConfidenceDrafts final : public Drafter {
 public:
  struct Options {
    DraftedFrom source = DraftedFrom::carry;
    Taken drafts = Taken::argmax;
    Ranking order = Ranking::rule;
    Tail tail = Tail::drafted;
    void declare(OptionSet& set) {
      set.add("source", &source)
          .help(
              "Draft from what the last verification answered where it stopped, or from a forward "
              "of this step's own (the paper's Algorithm 1 as printed, which costs twice the "
              "forwards).");
      set.add("drafts", &drafts)
          .help(
              "The most probable token of a position, or one drawn from its distribution (for the "
              "ratio test of verifier = tree).");
      set.add("order", &order)
          .help(
              "Order of the drafts: as the unmasker would commit them, window by window; or by the "
              "drafted token's probability, the leftmost among equals. For argmax drafts and the "
              "most confident first both are the same. With drawn drafts and the ratio test, "
              "confidence is not lossless.");
      set.add("tail", &tail)
          .help(
              "Where fewer masks than draft_length are left: draft them, or decode them stepwise "
              "(the paper's fallback).");
    }
  };
  explicit ConfidenceDrafts(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    const std::int64_t wanted = step.decode.draft_length, horizon = step.target.horizon();
    const auto masks = static_cast<std::int64_t>(step.canvas.masked_positions().size());
    const bool pass = options_.source == DraftedFrom::pass,
               stepwise = options_.tail == Tail::stepwise && masks < wanted;
    if (!pass && !stepwise && step.carry && horizon > 0) {
      Proposal drafted =
          draft(step, step.carry->answer, step.carry->node, std::min(wanted, horizon));
      drafted.lookahead = lookahead(step);
      if (!drafted.nodes.empty()) co_return drafted;
    }
    // A cache that is refreshed in this step ends at a depth that is not known yet.
    const std::int64_t needed = stepwise || spent(step.target) ? 1
                                : pass                         ? wanted
                                : horizon > 0 ? std::min<std::int64_t>(lookahead(step), horizon)
                                              : lookahead(step);
    Question question{.kind = Kind::draft,
                      .view = View::bidirectional,
                      .nodes = {},
                      .asks = {{kRoot, step.ahead(step.canvas, needed)}}};
    Answer answer = co_await step.ask(std::move(question));
    if (pass && !stepwise) co_return draft(step, answer, kRoot, wanted);

    Proposal proposal;
    for (const Commit& choice : step.stepwise(step.canvas, answer, kRoot)) {
      const Distribution& raw = answer.at(kRoot, choice.position);
      add(choice.position, choice.token, raw, proposal);
      proposal.drawn_from.push_back(step.drawn(raw));
    }
    proposal.exact = static_cast<int>(proposal.nodes.size());
    proposal.root_answer = std::move(answer);
    if (!pass && !stepwise) proposal.lookahead = lookahead(step);
    co_return proposal;
  }

 private:
  static bool spent(const Sequence& target) {
    const auto* const memory = dynamic_cast<const Refreshed*>(&target);
    return memory && memory->spent();
  }
  // The next step drafts from what is asked at a node beyond the node's own choice.
  static int lookahead(const Step& step) { return 1 + static_cast<int>(step.decode.draft_length); }

  static void add(std::int32_t position, Token token, const Distribution& raw, Proposal& proposal) {
    proposal.nodes.push_back({static_cast<int>(proposal.nodes.size()) - 1, position, token});
    proposal.raw.push_back(raw);
  }

  // Makes at most `count` drafts from the answer at a node, by repeating stepwise decoding with
  // that same answer.
  Proposal draft(const Step& step, const Answer& answer, int node, std::int64_t count) const {
    std::map<std::int32_t, Token> tokens;
    const auto token = [&](std::int32_t position) {
      const auto [found, fresh] = tokens.try_emplace(position);
      const Distribution& raw = answer.at(node, position);
      if (fresh)
        found->second =
            options_.drafts == Taken::argmax
                ? raw.argmax()
                : step.chance.draw(step.drawn(raw), step.site(position, Purpose::draft));
      return found->second;
    };
    Proposal proposal;
    Canvas later = step.canvas;
    while (static_cast<std::int64_t>(proposal.nodes.size()) < count &&
           !step.frontier->done(later)) {
      std::vector<std::int32_t> open = step.frontier->next(later).positions;
      if (open.empty() || !std::all_of(open.begin(), open.end(), [&](std::int32_t position) {
            return answer.find(node, position);
          }))
        break;
      std::vector<Commit> next;
      if (options_.order == Ranking::rule) {
        next = step.stepwise(later, answer, node, token);
      } else {
        for (const std::int32_t position : open) next.push_back({position, token(position)});
        std::stable_sort(next.begin(), next.end(), [&](const Commit& a, const Commit& b) {
          return answer.at(node, a.position).probability(a.token) >
                 answer.at(node, b.position).probability(b.token);
        });
      }
      if (next.empty()) break;  // The unmasker's schedule has nothing for this step.
      for (const Commit& choice : next) {
        later.commit(choice.position, choice.token);
        if (static_cast<std::int64_t>(proposal.nodes.size()) == count) continue;
        const Distribution& raw = answer.at(node, choice.position);
        add(choice.position, choice.token, raw, proposal);
        if (options_.drafts == Taken::drawn) proposal.drawn_from.push_back(step.drawn(raw));
      }
    }
    return proposal;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, confidence) {
  registries.drafters.add<draftlab::ConfidenceDrafts>(
      "confidence",
      "the model's own likeliest tokens at masked positions, in the order of stepwise decoding "
      "(SSD)");
}
