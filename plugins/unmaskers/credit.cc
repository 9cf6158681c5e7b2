// Credit decoding (CreditDecoding, Wang et al., 2025): a token that was the most probable one of
// its position in step after step has earned credit, which raises its confidence. Credit of a step
// is the probability to the `power`; what was earned before fades by `fade` a step; and logits rise
// by weight log(1 + credit). Drafts whose confidence is then above decode.threshold are committed.
// The tokens are those that the drafter drew; credit says which of them are kept.
#include <cmath>
#include <cstdio>
#include <map>

#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

using Credits = std::map<Token, double>;

class Credit final : public QuotaUnmasker {
 public:
  struct Options {
    double fade = 0.8, power = 0.2, weight = 0.7;
    void declare(OptionSet& set) {
      set.add("fade", &fade).in(0, 1).help("The share of earlier credit that a step leaves.");
      set.add("power", &power)
          .in(0, 100)
          .help("A step's credit is the largest probability to this power.");
      set.add("weight", &weight).in(0, 100).help("Logits rise by weight log(1 + credit).");
    }
  };
  explicit Credit(const Options& options) : options_(options) {}

  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    QuotaUnmasker::observe(canvas, route, verdict);
    each_answer(verdict, [&](std::int32_t position, const Distribution& answer) {
      earned_[position] = with(position, answer);
    });
    std::erase_if(earned_, [&](const auto& credits) { return !canvas.masked(credits.first); });
  }
  std::string state() const override {
    std::string text = QuotaUnmasker::state();
    char number[48];
    for (const auto& [position, credits] : earned_) {
      text += " " + std::to_string(position);
      for (const auto& [token, credit] : credits) {
        std::snprintf(number, sizeof number, ",%d:%.12g", token, credit);
        text += number;
      }
    }
    return text;
  }

 private:
  // The credit of a position's tokens, with what the present answer adds.
  Credits with(std::int32_t position, const Distribution& now) const {
    const auto before = earned_.find(position);
    Credits credits = before == earned_.end() ? Credits() : before->second;
    for (auto& [token, credit] : credits) credit *= options_.fade;
    credits[now.argmax()] += std::pow(now.max(), options_.power);
    return credits;
  }

  // The probability of the drafted token once credit has raised the logits.
  double fused(const Draft& draft) const {
    if (!draft.read) return draft.confidence;
    double sum = 1, of_token = draft.confidence;
    for (const auto& [token, credit] : with(draft.position, *draft.read)) {
      const double p = draft.read->probability(token),
                   raised = p * std::pow(1 + credit, options_.weight);
      sum += raised - p;
      if (token == draft.node->token) of_token = raised;
    }
    return of_token / sum;
  }

  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    for (Draft& draft : drafts) draft.confidence = fused(draft);
    largest_first(drafts, [](const Draft& draft) { return draft.confidence; });
    return static_cast<int>(std::count_if(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return draft.confidence > step.decode.threshold;
    }));
  }

  Options options_;
  // By masked position.
  std::map<std::int32_t, Credits> earned_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, credit) {
  registries.unmaskers.add<draftlab::Credit>(
      "credit",
      "drafts whose confidence passes decode.threshold with the credit of earlier steps "
      "(CreditDecoding)");
}
