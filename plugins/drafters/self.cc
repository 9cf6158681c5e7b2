// The model drafts for itself: the next k tokens in one forward, each conditioned on what is
// committed and not on one another (ASSD, Algorithm 1, lines 5-8). The first draft is the target's
// own draw (Lemma 1) and needs no test. Where the drafts' masks see one another, as in a block that
// a block-diffusion model denoises (S2D2), every draft is tested.

#include "core/config/plugin.h"
#include "core/parts/drafter.h"

namespace draftlab {
namespace {

// What a draft sees besides its own mask.
enum class Seen { committed, masks };
constexpr std::array<std::string_view, 2> words(Seen) { return {"committed", "masks"}; }

class Self final : public Drafter {
 public:
  struct Options {
    Seen sees = Seen::committed;
    bool shortcut = true;
    double temperature = -1;
    void declare(OptionSet& set) {
      set.add("sees", &sees)
          .help(
              "What a draft sees: what is committed, as the target does; or the other masks, too: "
              "a block-diffusion model in blocks of one denoises them as one longer block.");
      set.add("shortcut", &shortcut)
          .help(
              "Take the first draft as the target's own draw (Lemma 1), where it sees what the "
              "target does: it is never tested, and a lone last token needs no verification.");
      set.add("temperature", &temperature)
          .in(-1, 100)
          .help(
              "Temperature of the drafts that are tested; -1 takes decode.temperature. The "
              "target's never changes.");
    }
  };
  explicit Self(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    const auto& window = step.window.positions;
    const auto count = step.most_drafts();
    const bool alike = options_.sees == Seen::committed;
    Question question{.kind = Kind::draft,
                      .view = alike ? View::causal : View::bidirectional,
                      .nodes = {},
                      .asks = {{kRoot, {window.begin(), window.begin() + count}}}};
    const Answer answer = co_await step.ask(std::move(question));

    Sampling hotter = step.decode.sampling;
    if (options_.temperature >= 0) hotter.temperature = options_.temperature;
    Proposal proposal;
    proposal.exact = options_.shortcut && alike ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t position = window[i];
      const Distribution& raw = answer.at(kRoot, position);
      const Distribution drawn =
          static_cast<int>(i) < proposal.exact ? step.drawn(raw) : shaped(raw, hotter);
      const int parent = i == 0 ? kRoot : static_cast<int>(i) - 1;
      proposal.nodes.push_back(
          {parent, position, step.draw(drawn, position, static_cast<int>(i), Purpose::draft)});
      proposal.drawn_from.push_back(drawn);
      proposal.raw.push_back(raw);
    }
    co_return proposal;
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, self) {
  registries.drafters.add<draftlab::Self>(
      "self",
      "the target drafts the next k tokens independently in one forward (ASSD, Algorithm 1)");
}
