// SlowFast sampling (Wei et al., 2025): a block is decoded in cycles. In the slow phase the model
// says step after step how far its predictions reach, which is the last masked position whose most
// probable token has at least the probability `likely`; once that end stands still, or after
// `explore` steps, the fast phase decodes what lies before it, and nothing else, until it is full.
// In both phases drafts above decode.threshold are committed, or else the quota's most confident.
// Two things are the paper's and not the authors' program's: an end that stands still ends the slow
// phase at once (the program always makes all its steps), and no step reuses answers of another.
#include <cmath>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>

#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class SlowFast final : public QuotaUnmasker {
 public:
  struct Options {
    double likely = 0.3, deviation = 1;
    std::int64_t history = 2, explore = 6;
    void declare(OptionSet& set) {
      set.add("likely", &likely)
          .in(0, 1)
          .help("A cycle reaches to the last position whose best token is at least so probable.");
      set.add("history", &history).in(1, 64).help("Number of last cycle ends that are compared.");
      set.add("deviation", &deviation)
          .in(0, 4096)
          .help("Standard deviation, in positions, below which the compared ends stand still.");
      set.add("explore", &explore)
          .in(1, 4096)
          .help("Steps after which the slow phase ends anyway.");
    }
  };
  explicit SlowFast(const Options& options) : options_(options) {}

  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    QuotaUnmasker::observe(canvas, route, verdict);
    // The first position that was asked about, and the end of what the model can tell.
    std::optional<std::int32_t> first;
    std::int32_t end = 0;
    each_answer(verdict, [&](std::int32_t position, const Distribution& answer) {
      first = std::min(first.value_or(position), position);
      if (answer.max() >= options_.likely) end = std::max(end, position + 1);
    });
    if (!first || !slow(*first)) return;
    const std::int32_t block_end = blocks().end(*first, canvas.length());
    if (block_end != block_end_) ends_.clear(), explored_ = 0;
    block_end_ = block_end;
    ends_.push_back(std::clamp(end, *first + 1, block_end));
    if (std::ssize(ends_) > options_.history) ends_.pop_front();
    const bool still = stands_still();
    if (++explored_ < options_.explore && !still) return;
    end_ = still ? ends_.back() : static_cast<std::int32_t>(mean());
    ends_.clear(), explored_ = 0;
  }
  std::string state() const override {
    std::string text = QuotaUnmasker::state() + " " + std::to_string(end_) + "/" +
                       std::to_string(block_end_) + "/" + std::to_string(explored_);
    for (const std::int32_t end : ends_) text += "," + std::to_string(end);
    return text;
  }

 private:
  // Whether a step whose first masked position this is belongs to a slow phase: all that the last
  // cycle held is decoded.
  bool slow(std::int32_t first) const { return first >= end_; }
  double mean() const {
    return std::accumulate(ends_.begin(), ends_.end(), 0.0) / static_cast<double>(ends_.size());
  }
  bool stands_still() const {
    if (std::ssize(ends_) < options_.history) return false;
    double squares = 0;
    for (const std::int32_t end : ends_) squares += (end - mean()) * (end - mean());
    return std::sqrt(squares / static_cast<double>(ends_.size())) < options_.deviation;
  }

  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    const bool all = slow(step.window.positions.front());
    const auto rest = std::stable_partition(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return all || draft.position < end_;
    });
    return static_cast<int>(std::count_if(drafts.begin(), rest, [&](const Draft& draft) {
      return draft.confidence > step.decode.threshold;
    }));
  }

  Options options_;
  // Where the cycle ends that is decoded; before it everything is known in a slow phase.
  std::int32_t end_ = 0;
  // The slow phase: the ends seen last, its steps so far, and the end of its block.
  std::deque<std::int32_t> ends_;
  std::int64_t explored_ = 0;
  std::int32_t block_end_ = 0;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, slow_fast) {
  registries.unmaskers.add<draftlab::SlowFast>(
      "slow-fast",
      "drafts above decode.threshold, in cycles that reach as far as the model is sure (SlowFast)");
}
