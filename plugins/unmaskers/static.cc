// Static decoding: each step commits its quota of drafts, the surest ones (S2D2, Sec. 3). With one
// token a step it is the rule of stepwise decoding; with steps and an order it is LLaDA's
// low-confidence remasking, and with a schedule of timesteps Dream's sampler.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

constexpr float kLastTimestep = 1e-3f;  // Dream's last timestep.

// What makes a draft sure.
enum class Ranking { confidence, peak, margin, entropy };
constexpr std::array<std::string_view, 4> words(Ranking) {
  return {"confidence", "peak", "margin", "entropy"};
}

// How a step's quota is found.
enum class Schedule { even, timesteps, independent };
constexpr std::array<std::string_view, 3> words(Schedule) {
  return {"even", "timesteps", "independent"};
}

class Static final : public QuotaUnmasker {
 public:
  struct Options {
    Ranking order = Ranking::confidence;
    Schedule schedule = Schedule::even;
    void declare(OptionSet& set) {
      set.add("order", &order)
          .help(
              "Which drafts go first, the leftmost among equals: the drafted token's probability "
              "(draw, then select; LLaDA's low-confidence remasking, Dream's maskgit_plus); the "
              "position's largest probability, whatever was drawn (select, then draw); top-1 less "
              "top-2 (topk_margin); the lowest entropy (entropy).");
      set.add("schedule", &schedule)
          .help(
              "A step's quota: block_size / steps, the remainder in the first steps; of n masks "
              "int(n (1 - s/t)) on timesteps from 1 to 0.001, which may be none, and all in the "
              "last step (Dream); or each draft by chance, with probability 1 - s/t (Dream's "
              "origin).");
    }
  };
  explicit Static(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {DecodeKey::steps}; }

 private:
  int sure(const Step&, std::vector<Draft>& drafts) const override {
    if (options_.order == Ranking::peak)
      largest_first(drafts, [](const Draft& d) { return d.peak; });
    if (options_.order == Ranking::margin)
      largest_first(drafts, [](const Draft& d) { return d.margin; });
    if (options_.order == Ranking::entropy)
      largest_first(drafts, [](const Draft& d) { return -d.entropy; });
    return 0;
  }

  int quota(const Step& step, std::vector<Draft>& drafts) const override {
    if (options_.schedule == Schedule::even) return QuotaUnmasker::quota(step, drafts);
    if (steps() == 0)
      throw ConfigError("unmasker.static.schedule = {} needs a number of steps; set decode.steps",
                        word(options_.schedule));
    const auto masks = static_cast<int>(drafts.size());
    if (made(step) + 1 >= steps()) return masks;
    const float share = 1 - timestep(made(step) + 1) / timestep(made(step));
    if (options_.schedule == Schedule::timesteps)
      return static_cast<int>(static_cast<float>(masks) * share);
    const auto chosen =
        std::stable_partition(drafts.begin(), drafts.end(), [&](const Draft& draft) {
          return step.chance.below(share, step.site(draft.position, Purpose::order));
        });
    return static_cast<int>(chosen - drafts.begin());
  }

  // Returns the i-th of steps + 1 timesteps. It is computed in single precision and from the nearer
  // end, as torch.linspace does, because a share of the masks is cut to a whole number.
  float timestep(std::int64_t i) const {
    const float by = (kLastTimestep - 1) / static_cast<float>(steps());
    return i < (steps() + 1) / 2 ? 1 + by * static_cast<float>(i)
                                 : kLastTimestep - by * static_cast<float>(steps() - i);
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, static) {
  registries.unmaskers.add<draftlab::Static>(
      "static", "the step's quota of drafts, the surest ones; one a step is stepwise decoding");
}
