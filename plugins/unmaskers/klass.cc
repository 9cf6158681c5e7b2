// KL-guided decoding (KLASS, Kim et al., 2025): a draft is committed where the model is confident
// (decode.threshold) and has stopped changing its mind, that is where the divergence between what
// it says of the position now and what it said a step before has been small for some steps. What a
// step says first of a position has nothing to be compared with, so nothing is sure in the first
// step of a block. Where nothing is sure, the quota's most confident drafts are committed.
#include <cmath>
#include <cstdio>
#include <map>

#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class Klass final : public QuotaUnmasker {
 public:
  struct Options {
    double divergence = 0.01;
    std::int64_t history = 2;
    void declare(OptionSet& set) {
      set.add("divergence", &divergence)
          .in(0, 1000)
          .help("Largest KL divergence of a position's law from that of the step before, in nats.");
      set.add("history", &history)
          .in(1, 64)
          .help("Number of last steps in which the divergence must have stayed below it.");
    }
  };
  explicit Klass(const Options& options) : options_(options) {}

  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    QuotaUnmasker::observe(canvas, route, verdict);
    each_answer(verdict, [&](std::int32_t position, const Distribution& answer) {
      const std::int64_t still = still_for(position, answer);
      known_.insert_or_assign(position, Said{answer, still});
    });
    std::erase_if(known_, [&](const auto& said) { return !canvas.masked(said.first); });
  }
  std::string state() const override {
    std::string text = QuotaUnmasker::state();
    char number[32];
    for (const auto& [position, said] : known_) {
      text += " " + std::to_string(position) + ":" + std::to_string(said.still);
      for (const double p : said.answer.probabilities()) {
        std::snprintf(number, sizeof number, ",%.12g", p);
        text += number;
      }
    }
    return text;
  }

 private:
  // What the model said of a position last, and for how many steps that had hardly changed.
  struct Said {
    Distribution answer;
    std::int64_t still = 0;
  };

  static double divergence(const Distribution& now, const Distribution& before) {
    double sum = 0;
    for (Token token = 0; token < now.size(); ++token)
      if (const double p = now.probability(token); p > 0)
        sum += p * std::log(p / before.probability(token));
    return sum;
  }
  std::int64_t still_for(std::int32_t position, const Distribution& now) const {
    const auto before = known_.find(position);
    if (before == known_.end()) return 0;
    const bool still = divergence(now, before->second.answer) < options_.divergence;
    return still ? before->second.still + 1 : 0;
  }

  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    const auto ready = [&](const Draft& draft) {
      return draft.confidence > step.decode.threshold && draft.read &&
             still_for(draft.position, *draft.read) >= options_.history;
    };
    return static_cast<int>(std::stable_partition(drafts.begin(), drafts.end(), ready) -
                            drafts.begin());
  }

  Options options_;
  std::map<std::int32_t, Said> known_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, klass) {
  registries.unmaskers.add<draftlab::Klass>(
      "klass", "drafts of which the model is confident and has stopped changing its mind (KLASS)");
}
