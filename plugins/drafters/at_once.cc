// The next positions are drafted at once, from one bidirectional forward over their masks: by a
// diffusion model that drafts for a target which decodes left to right, or by layers of the
// target's own that read its hidden states (DFlash, Chen et al., 2026). Each draft is drawn without
// knowing the others, and says so; or each is the most probable token, surely, as the authors have
// it.
#include <array>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/drafter.h"
#include "plugins/drafters/asked_models.h"

namespace draftlab {
namespace {

// How a draft is chosen of its law.
enum class DraftChoice { drawn, best };
constexpr std::array<std::string_view, 2> words(DraftChoice) { return {"drawn", "best"}; }

// Who tells the laws: model.draft, or what answers the target's shallow questions.
enum class BlockGuide { draft, shallow };
constexpr std::array<std::string_view, 2> words(BlockGuide) { return {"draft", "shallow"}; }

class AtOnce final : public Drafter {
 public:
  struct Options {
    DraftChoice choice = DraftChoice::drawn;
    BlockGuide guide = BlockGuide::draft;
    void declare(OptionSet& set) {
      set.add("choice", &choice)
          .help(
              "Each draft is drawn from its law; or is the most probable token, a point mass "
              "(DFlash).");
      set.add("guide", &guide)
          .help(
              "Who tells the laws: model.draft, a diffusion model; or the target, asked shallowly "
              "(its feature_head of DFlash).");
    }
  };
  explicit AtOnce(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override {
    return shallow() ? std::vector{Form::shallow} : std::vector<Form>{};
  }
  std::vector<Form> asks_draft_model() const override {
    return shallow() ? std::vector<Form>{} : std::vector{Form::committed};
  }

  Asking<Proposal> propose(const Step& step) const override {
    const std::vector<std::int32_t>& window = step.window.positions;
    const auto count = step.most_drafts();
    Question question{.kind = Kind::draft,
                      .view = shallow() ? View::causal : View::bidirectional,
                      .nodes = {},
                      .asks = {{kRoot, {window.begin(), window.begin() + count}}},
                      .shallow = shallow()};
    const Answer answer = co_await step.ask(std::move(question), shallow() ? kTarget : kDraftModel);
    Proposal proposal;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t position = window[i];
      const Distribution& raw = answer.at(kRoot, position);
      const Distribution drawn = step.drawn(raw);
      const bool best = options_.choice == DraftChoice::best;
      proposal.nodes.push_back(
          {static_cast<int>(i) - 1, position,
           best ? raw.argmax() : step.draw(drawn, position, static_cast<int>(i), Purpose::draft)});
      if (!best) proposal.drawn_from.push_back(drawn);
      proposal.raw.push_back(raw);
    }
    co_return proposal;
  }

 private:
  bool shallow() const { return options_.guide == BlockGuide::shallow; }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, at_once) {
  registries.drafters.add<draftlab::AtOnce>("at-once",
                                            "a diffusion model.draft, or layers on the target's "
                                            "states (DFlash), fill the next k positions "
                                            "from one bidirectional forward; lossless");
}
