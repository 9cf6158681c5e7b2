// The task `infill` gives scattered tokens of a passage and masks all others (95 % of them in Table
// 1 of ASSD).
#include <algorithm>
#include <numeric>

#include "core/config/plugin.h"
#include "core/prob/chance.h"
#include "plugins/tasks/stories/passages.h"

namespace draftlab {
namespace {

class Infill final : public PassageTask {
 public:
  struct Options : PassageOptions {
    double mask_rate = 0.95;
    void declare(OptionSet& set) {
      PassageOptions::declare(set);
      set.add("mask_rate", &mask_rate)
          .in(0, 1)
          .help("Share of the tokens that is masked; at least one is, and at least one is not.");
    }
  };
  explicit Infill(const Options& options) : PassageTask("infill"), options_(options) {}

  void load(const Tokenizer* tokenizer) override { read(options_, tokenizer); }

 private:
  // Returns the first positions of a random permutation of the text's positions, in ascending
  // order. How many there are follows the authors' code.
  std::vector<std::int32_t> visible(const Passage& passage) const override {
    const int length = static_cast<int>(passage.tokens.size()) - first();
    const int count =
        std::clamp(static_cast<int>((1 - options_.mask_rate) * length) + 1, 1, length - 1);
    std::vector<std::int32_t> positions(length);
    std::iota(positions.begin(), positions.end(), first());
    for (int i = 0; i < count; ++i) {
      const Site site{stable_hash(passage.id), i, Purpose::prompt, 0, 0};
      std::swap(
          positions[i],
          positions[i + static_cast<int>(SampledChance::uniform(
                                             static_cast<std::uint64_t>(options_.seed), site) *
                                         (length - i))]);
    }
    positions.resize(count);
    std::sort(positions.begin(), positions.end());
    return positions;
  }
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, infill) {
  registries.tasks.add<draftlab::Infill>(
      "infill", "a text with scattered tokens given and all others masked");
}
