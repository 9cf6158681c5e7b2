// A diffusion model drafts for a target that decodes left to right: the next positions at once,
// from one bidirectional forward over their masks (DFlash, Chen et al., 2026, whose draft model
// reads the target's hidden states besides). Each draft is drawn without knowing the others, and
// says so; or each is the most probable token, surely, as the authors have it.
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

class AtOnce final : public Drafter {
 public:
  struct Options {
    DraftChoice choice = DraftChoice::drawn;
    void declare(OptionSet& set) {
      set.add("choice", &choice)
          .help(
              "Each draft is drawn from its law; or is the most probable token, a point mass "
              "(DFlash).");
    }
  };
  explicit AtOnce(const Options& options) : options_(options) {}
  std::vector<Form> asks_draft_model() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    const std::vector<std::int32_t>& window = step.window.positions;
    const auto count = step.most_drafts();
    Question question{.kind = Kind::draft,
                      .view = View::bidirectional,
                      .nodes = {},
                      .asks = {{kRoot, {window.begin(), window.begin() + count}}}};
    const Answer answer = co_await step.ask(std::move(question), kDraftModel);
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
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, at_once) {
  registries.drafters.add<draftlab::AtOnce>(
      "at-once",
      "a diffusion model.draft fills the next k positions from one bidirectional forward (DFlash); "
      "lossless");
}
