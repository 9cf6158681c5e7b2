// ReMDM (Wang et al., 2025): ancestral sampling of a masked diffusion whose tokens may be masked
// again. From step t to step s of a block the share that is kept grows from a_t to a_s; a
// token is masked again with probability sigma, and a mask is filled with probability (a_s - (1 -
// sigma) a_t) / (1 - a_t), so that the shares stay those of the schedule (linear here). sigma is at
// most (1 - a_s) / a_t, which ends the decoding: the last step fills what is masked and takes
// nothing back. A block that is full ends before its schedule does. It has decode.steps steps, or
// as many as positions.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>

#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

// How sigma is found: eta, or the bound where that is less; eta times the bound; or the bound times
// a share that is the larger the less confident a token's commitment was.
enum class Sigma { cap, rescale, confidence };
constexpr std::array<std::string_view, 3> words(Sigma) { return {"cap", "rescale", "confidence"}; }

class Remdm final : public QuotaUnmasker {
 public:
  struct Options {
    Sigma sigma = Sigma::cap;
    double eta = 0.02;
    void declare(OptionSet& set) {
      set.add("sigma", &sigma)
          .help(
              "The probability that a token is masked again: at most eta; eta times the largest "
              "that the schedule allows; or that largest one times the softmax of minus the "
              "tokens' confidences at their commitment.");
      set.add("eta", &eta).in(0, 1).help("The bound or factor of that probability.");
    }
  };
  explicit Remdm(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {DecodeKey::steps}; }
  bool takes_back() const override { return true; }

  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    QuotaUnmasker::observe(canvas, route, verdict);
    if (options_.sigma != Sigma::confidence) return;
    if (verdict.proposal) {
      const std::vector<double> at = confidences(*verdict.proposal, verdict.commits);
      for (std::size_t i = 0; i < at.size(); ++i)
        committed_[verdict.commits[i].position] = std::isnan(at[i]) ? 1 : at[i];
    }
    std::erase_if(committed_, [&](const auto& token) { return !canvas.tentative(token.first); });
  }
  std::string state() const override {
    std::string text = counted();
    char number[48];
    for (const auto& [position, confidence] : committed_) {
      std::snprintf(number, sizeof number, " %d:%.12g", position, confidence);
      text += number;
    }
    return text;
  }

 private:
  int sure(const Step&, std::vector<Draft>&) const override { return 0; }

  // The number of steps of the block, and which of them this one is.
  std::int64_t all(const Step& step) const {
    if (steps() > 0) return steps();
    const std::int32_t at = step.window.positions.front();
    return blocks().end(at, step.canvas.length()) - blocks().first(at);
  }
  std::int64_t now(const Step& step) const { return std::min(made(step), all(step) - 1); }
  // The shares that are kept before and behind the step.
  double before(const Step& step) const {
    return static_cast<double>(now(step)) / static_cast<double>(all(step));
  }
  double behind(const Step& step) const {
    return static_cast<double>(now(step) + 1) / static_cast<double>(all(step));
  }
  double largest(const Step& step) const {
    const double kept = before(step);
    return kept > 0 ? std::clamp((1 - behind(step)) / kept, 0.0, 1.0) : 0;
  }
  double sigma(const Step& step) const {
    if (options_.sigma == Sigma::rescale) return options_.eta * largest(step);
    return options_.sigma == Sigma::cap ? std::min(options_.eta, largest(step)) : 0;
  }

  int quota(const Step& step, std::vector<Draft>& drafts) const override {
    const double kept = before(step),
                 filled = (behind(step) - (1 - sigma(step)) * kept) / (1 - kept);
    const auto chosen =
        std::stable_partition(drafts.begin(), drafts.end(), [&](const Draft& draft) {
          return step.chance.below(std::min(filled, 1.0),
                                   step.site(draft.position, Purpose::order));
        });
    return static_cast<int>(chosen - drafts.begin());
  }

  std::vector<Commit> taken_back(const Step& step, const Proposal&,
                                 const std::vector<Commit>&) const override {
    std::vector<Commit> tokens = tentative(step);
    const auto weight = [&](const Commit& token) {
      const auto at = committed_.find(token.position);
      return std::exp(at == committed_.end() ? -1 : -at->second);
    };
    double sum = 0;
    for (const Commit& token : tokens) sum += weight(token);
    std::erase_if(tokens, [&](const Commit& token) {
      const double chance =
          options_.sigma == Sigma::confidence ? largest(step) * weight(token) / sum : sigma(step);
      return !step.chance.below(chance, step.site(token.position, Purpose::order));
    });
    return tokens;
  }

  Options options_;
  // The confidence of each tentative token when it was committed.
  std::map<std::int32_t, double> committed_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, remdm) {
  registries.unmaskers.add<draftlab::Remdm>(
      "remdm", "masks are filled and tokens masked again by chance, on a schedule (ReMDM)");
}
