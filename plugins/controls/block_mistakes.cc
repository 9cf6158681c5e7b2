// Controls: four rules that are nearly block verification. Each is what an implementation got
// wrong, or was advised to do.
#include <array>
#include <string_view>

#include "core/config/plugin.h"
#include "plugins/verifiers/block_walk.h"
#include "plugins/verifiers/paths.h"

namespace draftlab {
namespace {

// The residual of the token-by-token test accepts as much as the exact one, and has another law.
struct TokenResidual final : BlockRule {
  double in_residual(double) const override { return 1; }
};
// A node whose drafts are rejected keeps its weight.
struct SameWeight final : BlockRule {
  double of_rest(double weight, double) const override { return weight; }
};
// Ratios are not clipped at each draft.
struct Unclipped final : BlockRule {
  double of_draft(double weight, double p, double q) const override { return weight * p / q; }
};
// The walk ends at the first draft from the front that is rejected.
struct FirstRejection final : BlockRule {
  bool from_front() const override { return true; }
};

enum class Mistake { token_residual, same_weight, unclipped, first_rejection };
constexpr std::array<std::string_view, 4> words(Mistake) {
  return {"token-residual", "same-weight", "unclipped", "first-rejection"};
}

std::unique_ptr<const BlockRule> rule_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::token_residual: return std::make_unique<TokenResidual>();
    case Mistake::same_weight: return std::make_unique<SameWeight>();
    case Mistake::unclipped: return std::make_unique<Unclipped>();
    case Mistake::first_rejection: break;
  }
  return std::make_unique<FirstRejection>();
}

class BlockMistakes final : public BlockVerifier {
 public:
  struct Options : BonusOption {
    Mistake mistake = Mistake::token_residual;
    void declare(OptionSet& set) {
      BonusOption::declare(set);
      set.add("mistake", &mistake)
          .help(
              "The residual of the token-by-token test; a node whose drafts are rejected keeps its "
              "weight; ratios that are not clipped at each draft; or an end at the first draft "
              "from the front that is rejected.");
    }
  };
  explicit BlockMistakes(const Options& options)
      : BlockVerifier(options.bonus, rule_of(options.mistake)) {}
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, block_mistakes) {
  registries.verifiers.add<draftlab::BlockMistakes>(
      "block-mistakes", "controls: four rules that are nearly block verification; lossy");
}
