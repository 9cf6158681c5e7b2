// Saber (Dong et al., 2025): the threshold is the mean confidence of all tokens at their
// commitment, so it moves with the text, and at least `least` drafts are committed. Then earlier
// tokens whose confidence has fallen most are masked again: half of `least`, or an eighth of what
// the step commits where that is more, and always fewer than it commits. The published program
// watches the confidence of what the model now likes best at the position, whatever token stands
// there.
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

// Whose probability is compared with what the token had at its commitment.
enum class Watched { token, likeliest };
constexpr std::array<std::string_view, 2> words(Watched) { return {"token", "likeliest"}; }

class Saber final : public QuotaUnmasker {
 public:
  struct Options {
    std::int64_t least = 2;
    Watched watch = Watched::token;
    void declare(OptionSet& set) {
      set.add("least", &least).in(1, 4096).help("Fewest drafts that a step commits.");
      set.add("watch", &watch)
          .help(
              "A token's own probability is watched, or that of the likeliest token at its "
              "position (the published program).");
    }
  };
  explicit Saber(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {}; }
  bool takes_back() const override { return true; }

  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    QuotaUnmasker::observe(canvas, route, verdict);
    if (verdict.proposal) {
      const std::vector<double> at = confidences(*verdict.proposal, verdict.commits);
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (std::isnan(at[i])) continue;
        committed_[verdict.commits[i].position] = at[i];
        sum_ += at[i], ++count_;
      }
    }
    std::erase_if(committed_, [&](const auto& token) { return !canvas.tentative(token.first); });
  }
  std::string state() const override {
    std::string text = QuotaUnmasker::state();
    char number[64];
    std::snprintf(number, sizeof number, " %.12g/%lld", sum_, static_cast<long long>(count_));
    text += number;
    for (const auto& [position, confidence] : committed_) {
      std::snprintf(number, sizeof number, " %d:%.12g", position, confidence);
      text += number;
    }
    return text;
  }

 private:
  int sure(const Step&, std::vector<Draft>& drafts) const override {
    const double threshold = count_ == 0 ? 1 : sum_ / static_cast<double>(count_);
    return static_cast<int>(std::count_if(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return draft.confidence > threshold;
    }));
  }
  int quota(const Step&, std::vector<Draft>&) const override {
    return static_cast<int>(options_.least);
  }

  std::vector<Commit> taken_back(const Step& step, const Proposal& proposal,
                                 const std::vector<Commit>& commits) const override {
    const auto fallen = [&](const Commit& token) {
      const auto at = committed_.find(token.position);
      const Distribution* const said = proposal.root_answer.find(kRoot, token.position);
      if (at == committed_.end() || !said) return 0.0;
      return at->second -
             (options_.watch == Watched::token ? said->probability(token.token) : said->max());
    };
    std::vector<Commit> tokens = tentative(step);
    std::erase_if(tokens, [&](const Commit& token) { return fallen(token) <= 0; });
    std::stable_sort(tokens.begin(), tokens.end(),
                     [&](const Commit& a, const Commit& b) { return fallen(a) > fallen(b); });
    const std::size_t most =
        std::max(static_cast<std::size_t>(options_.least) / 2, (commits.size() + 7) / 8);
    tokens.resize(std::min({tokens.size(), most, commits.empty() ? 0 : commits.size() - 1}));
    return tokens;
  }

  Options options_;
  // The confidence of each tentative token when it was committed.
  std::map<std::int32_t, double> committed_;
  // Of all commitments, also of those that were taken back.
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, saber) {
  registries.unmaskers.add<draftlab::Saber>(
      "saber",
      "drafts above the mean confidence so far, and tokens whose confidence has fallen most are "
      "taken back (Saber)");
}
