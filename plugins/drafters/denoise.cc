// The model denoises the current block: every mask of the window is drawn independently from one
// bidirectional forward (S2D2, Sec. 3), and tokens written earlier in the block may be edited from
// the same answer (LLaDA2.1).
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/drafter.h"
#include "core/parts/unmasker.h"

namespace draftlab {
namespace {

// What addresses a draft's random number.
enum class Addressed { step, state };
constexpr std::array<std::string_view, 2> words(Addressed) { return {"step", "state"}; }

class Denoise final : public Drafter {
 public:
  struct Options {
    bool greedy = false;
    Addressed sites = Addressed::step;
    void declare(OptionSet& set) {
      set.add("greedy", &greedy)
          .help(
              "Take the most probable token, yet claim the distribution it tops (the published "
              "code's temperature 0); not lossless.");
      set.add("sites", &sites)
          .help(
              "Address of a draft's random number: the step, or the number of committed tokens. "
              "Unverified decoding with `state` draws the numbers that the nodes of verifier = "
              "tree draw, so at equal seeds their texts are equal.");
    }
  };
  explicit Denoise(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {DecodeKey::edit_threshold}; }
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    const std::vector<std::int32_t>& window = step.window.positions;
    Proposal proposal;
    // A right-shifted model answered the block's first position in the forward that cached what
    // precedes it, hence causally.
    if (step.carry && step.carry->node == kRoot && !window.empty()) {
      if (const Distribution* const known = step.carry->answer.find(kRoot, window.front())) {
        add(step, window.front(), *known, proposal);
        proposal.exact = 1;
        co_return proposal;
      }
    }

    const bool may_lose = step.unmasker && step.unmasker->takes_back();
    if (may_lose && options_.sites == Addressed::state)
      throw ConfigError(
          "drafter.denoise.sites = state addresses a draw by how much is committed, and this "
          "unmasker takes tokens back; it must be step");
    const std::vector<std::int32_t> editable =
        step.decode.edit_threshold < 1 || may_lose ? tentative(step) : std::vector<std::int32_t>();
    Question question{
        .kind = Kind::draft, .view = View::bidirectional, .nodes = {}, .asks = {{kRoot, window}}};
    question.asks.front().positions.insert(question.asks.front().positions.end(), editable.begin(),
                                           editable.end());
    const Answer answer = co_await step.ask(std::move(question));

    for (const std::int32_t position : window)
      add(step, position, answer.at(kRoot, position), proposal);
    for (const std::int32_t position : editable) {
      const Distribution& raw = answer.at(kRoot, position);
      if (raw.max() > step.decode.edit_threshold && step.decode.edit_threshold < 1 &&
          raw.argmax() != step.canvas.token(position))
        proposal.edits.push_back({position, raw.argmax(), Source::edited});
    }
    proposal.exact = alone(step) ? 1 : 0;
    if (may_lose) proposal.root_answer = answer;
    co_return proposal;
  }

 private:
  void add(const Step& step, std::int32_t position, const Distribution& raw,
           Proposal& proposal) const {
    const Distribution drawn = step.drawn(raw);
    const Token token = options_.greedy
                            ? raw.argmax()
                            : step.chance.draw(drawn, options_.sites == Addressed::step
                                                          ? step.site(position, Purpose::draft)
                                                          : step.choice(step.canvas, position));
    proposal.nodes.push_back({static_cast<int>(proposal.nodes.size()) - 1, position, token});
    proposal.drawn_from.push_back(drawn);
    proposal.raw.push_back(raw);
  }

  // In a block of one position both views are the same, so the draft is the target's own draw. A
  // greedy draft is not a draw, but it claims a distribution that the target shares, so that a test
  // would always pass.
  static bool alone(const Step& step) {
    if (step.window.positions.empty()) return false;
    const std::int32_t position = step.window.positions.front();
    return step.blocks.end(position, step.canvas.length()) - step.blocks.first(position) == 1;
  }

  // Returns the positions of the current block whose tokens may be edited; no other block has any.
  static std::vector<std::int32_t> tentative(const Step& step) {
    std::vector<std::int32_t> positions;
    for (std::int32_t i = 0; i < step.canvas.length(); ++i)
      if (step.canvas.tentative(i)) positions.push_back(i);
    return positions;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, denoise) {
  registries.drafters.add<draftlab::Denoise>(
      "denoise", "every mask of the block independently from one bidirectional forward (S2D2)");
}
