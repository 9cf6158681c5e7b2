// A contextual bandit (S2D2, App. A.6): two arms, verify or not, in buckets of span length,
// progress within the block and entropy. An arm's index is its mean reward in the bucket plus beta
// sqrt(ln t / n) (Eq. 16, 17), the reward of a step the tokens it decoded per pass (Eq. 18), t the
// number of the decision, counted over all buckets. One state a sequence.
//
// Not said in the paper: an arm that was never tried there has index infinity, and ties verify, so
// that the first visit of a bucket verifies and the second does not.
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>
#include <vector>

#include "core/config/plugin.h"
#include "core/parts/router.h"

namespace draftlab {
namespace {

// Where span and progress are measured.
enum class MeasuredIn { block, sub_block };
constexpr std::array<std::string_view, 2> words(MeasuredIn) { return {"block", "sub-block"}; }
// Which drafts' entropy is averaged.
enum class EntropyOver { span, masks };
constexpr std::array<std::string_view, 2> words(EntropyOver) { return {"span", "masks"}; }

class Ucb final : public Router {
 public:
  struct Options {
    double beta = 1;
    std::int64_t span_bins = 2, progress_bins = 2, entropy_bins = 2;
    double verify_cost = 2, skip_cost = 1;
    bool ties_verify = true, count_prompt = true;
    EntropyOver entropy_over = EntropyOver::span;
    MeasuredIn window = MeasuredIn::block;
    std::int64_t width = 0;
    void declare(OptionSet& set) {
      set.add("beta", &beta).in(0, 1e6).help("Weight of exploration (Eq. 16).");
      set.add("span_bins", &span_bins)
          .in(1, 4096)
          .help("Bins of the span's length, linear from 1 to the window's size.");
      set.add("progress_bins", &progress_bins)
          .in(1, 4096)
          .help("Bins of the share of the window that is unmasked.");
      set.add("entropy_bins", &entropy_bins)
          .in(1, 4096)
          .help("Bins of the mean entropy of the drafts over ln V, linear from 0 to 1.");
      set.add("verify_cost", &verify_cost).in(1e-6, 1e6).help("Cost of a verified step (Eq. 18).");
      set.add("skip_cost", &skip_cost).in(1e-6, 1e6).help("Cost of any other (Eq. 18).");
      set.add("ties_verify", &ties_verify).help("Whether equal indices verify.");
      set.add("count_prompt", &count_prompt)
          .help(
              "Whether prompt tokens in the block count as progress; the authors' code counts them "
              "in one port of two.");
      set.add("window", &window)
          .help(
              "Where span and progress are measured: in the block, or in its current sub-block, as "
              "in the authors' port for Fast-dLLM v2.");
      set.add("entropy_over", &entropy_over)
          .help("Drafts whose entropy is averaged: of the span, or of every mask of the window.");
      set.add("width", &width)
          .in(0, 1e9)
          .help("V of the normalised entropy; 0 for the model's vocabulary.");
    }
  };
  explicit Ucb(const Options& options)
      : options_(options),
        buckets_(static_cast<std::size_t>(options.span_bins * options.progress_bins *
                                          options.entropy_bins)) {}

  Route decide(const StepView& step) const override {
    const int context = bucket(step);
    const double skip = index(buckets_[context][0]), verify = index(buckets_[context][1]);
    const double ahead =
        skip == verify ? 0 : verify - skip;  // Two untried arms would make infinity less infinity.
    return {.verify = ahead > 0 || (ahead == 0 && options_.ties_verify),
            .score = ahead,
            .context = context};
  }

  // The arm that was played, whoever chose it.
  void observe(const Canvas&, const Route& route, const Verdict& verdict) override {
    Arm& arm = buckets_[route.context][route.verify];
    arm.reward += static_cast<double>(verdict.commits.size()) /
                  (route.verify ? options_.verify_cost : options_.skip_cost);
    ++arm.plays;
    ++plays_;
  }

  std::string state() const override {
    std::string text;
    for (const auto& bucket : buckets_) {
      for (const Arm& arm : bucket) {
        char number[64];
        std::snprintf(number, sizeof number, "%lld:%a ", static_cast<long long>(arm.plays),
                      arm.reward);
        text += number;
      }
    }
    return text;
  }

 private:
  struct Arm {
    std::int64_t plays = 0;
    double reward = 0;
  };

  double index(const Arm& arm) const {
    if (arm.plays == 0) return std::numeric_limits<double>::infinity();
    const double n = static_cast<double>(arm.plays), t = static_cast<double>(plays_ + 1);
    return arm.reward / n + options_.beta * std::sqrt(std::log(t) / n);
  }

  // `at` in [0, 1]; what is not a number falls into the first bin.
  static int bin(double at, std::int64_t bins) {
    if (!(at > 0)) return 0;
    return static_cast<int>(std::min<std::int64_t>(
        bins - 1, static_cast<std::int64_t>(std::min(at, 1.0) * static_cast<double>(bins))));
  }

  int bucket(const StepView& step) const {
    const StepView::Block& window =
        options_.window == MeasuredIn::block ? step.block : step.sub_block;
    const int size = window.size, known = options_.count_prompt ? 0 : window.given;
    const double span = size > 1 ? static_cast<double>(step.span.length - 1) / (size - 1) : 0;
    const double progress = size > 0 ? static_cast<double>(size - window.masked - known) / size : 0;
    const Eigen::Index seen =
        options_.entropy_over == EntropyOver::span ? step.drafts() : step.entropy.size();
    const double nats = seen > 0 ? step.entropy.head(seen).mean() : 0;
    const double entropy =
        nats / std::log(static_cast<double>(options_.width > 0 ? options_.width : step.vocabulary));
    const std::int64_t row = bin(span, options_.span_bins) * options_.progress_bins +
                             bin(progress, options_.progress_bins);
    return static_cast<int>(row * options_.entropy_bins + bin(entropy, options_.entropy_bins));
  }

  Options options_;
  std::vector<std::array<Arm, 2>> buckets_;  // Index 0 is not verified, index 1 is verified.
  std::int64_t plays_ = 0;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(router, ucb) {
  registries.routers.add<draftlab::Ucb>("ucb", "a contextual bandit on tokens per pass");
}
