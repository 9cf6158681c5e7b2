#include "analysis/inspect/first_difference.h"

#include <algorithm>
#include <cmath>

#include "core/base/words.h"

namespace draftlab {
namespace {

// Compares one step after the other until something is another.
class Comparison {
 public:
  explicit Comparison(RecordedDrafts recorded) : recorded_(recorded) {}

  // Each returns whether everything was equal.
  bool step(const StepRow& stored, const StepRow& again) {
    where_ = "step " + std::to_string(stored.step) + ": ";
    return equal("masked positions", stored.masked, again.masked) &&
           equal("positions of the span", stored.span, again.span) &&
           equal("drafts", stored.drafted, again.drafted) &&
           equal("exact drafts", stored.exact, again.exact) && drafts(stored, again) &&
           equal("routed", stored.routed, again.routed) &&
           equal("verified", stored.verified, again.verified) && verdicts(stored, again) &&
           tokens(stored, again) && equal("reason to stop", stored.stop, again.stop) &&
           counts("target", stored.counts, again.counts) &&
           counts("draft model", stored.drafter_counts, again.drafter_counts);
  }
  bool equal(const std::string& what, std::int64_t stored, std::int64_t again) {
    if (stored == again) return true;
    return differ(what + ": " + std::to_string(stored) + ", and " + std::to_string(again) + " now");
  }
  Difference result() const { return difference_; }

 private:
  bool differ(const std::string& what) {
    difference_.what = where_ + what;
    return false;
  }

  void number(double stored, double again) {
    if (std::isnan(stored) || std::isnan(again)) return;
    // The trace keeps these as single floats.
    const double rounded = static_cast<double>(static_cast<float>(again));
    difference_.numbers = std::max(difference_.numbers, std::abs(stored - rounded));
  }

  // The drafts of a step decoded again that the trace would hold.
  std::vector<DraftRow> held(const StepRow& step) const {
    std::vector<DraftRow> drafts = step.drafts;
    std::erase_if(drafts, [&](const DraftRow& draft) {
      return recorded_ == RecordedDrafts::none ||
             (recorded_ == RecordedDrafts::span && draft.depth >= step.span);
    });
    return drafts;
  }

  bool drafts(const StepRow& stored, const StepRow& again) {
    const std::vector<DraftRow> now = held(again);
    if (!equal("recorded drafts", static_cast<std::int64_t>(stored.drafts.size()),
               static_cast<std::int64_t>(now.size())))
      return false;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const DraftRow &was = stored.drafts[i], &is = now[i];
      if (was.position != is.position || was.token != is.token || was.depth != is.depth)
        return differ("draft " + std::to_string(i) + ": token " + std::to_string(was.token) +
                      " at position " + std::to_string(was.position) + ", and " +
                      std::to_string(is.token) + " at " + std::to_string(is.position) + " now");
      number(was.q, is.q);
    }
    return true;
  }

  bool verdicts(const StepRow& stored, const StepRow& again) {
    const std::vector<DraftRow> now = held(again);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const DraftRow &was = stored.drafts[i], &is = now[i];
      number(was.p, is.p), number(was.accept, is.accept);
      if (was.accepted == is.accepted) continue;
      const auto word = [](int accepted) {
        return accepted < 0 ? "not judged" : accepted > 0 ? "accepted" : "rejected";
      };
      return differ("draft " + std::to_string(i) + " was " + word(was.accepted) + ", and is " +
                    word(is.accepted) + " now");
    }
    return equal("accepted drafts", stored.accepted, again.accepted);
  }

  bool tokens(const StepRow& stored, const StepRow& again) {
    if (!equal("tokens", static_cast<std::int64_t>(stored.tokens.size()),
               static_cast<std::int64_t>(again.tokens.size())))
      return false;
    for (std::size_t i = 0; i < stored.tokens.size(); ++i) {
      const TokenRow &was = stored.tokens[i], &is = again.tokens[i];
      if (was.position != is.position || was.token != is.token || was.source != is.source)
        return differ("token " + std::to_string(was.token) + " was committed at position " +
                      std::to_string(was.position) + " (" + source(was) + "), and " +
                      std::to_string(is.token) + " at " + std::to_string(is.position) + " (" +
                      source(is) + ") now");
      number(was.p, is.p);
      for (Eigen::Index k = 0; k < std::min(was.value.size(), is.value.size()); ++k)
        number(was.value[k], is.value[k]);
    }
    return true;
  }

  static std::string source(const TokenRow& token) {
    return std::string(name(static_cast<Source>(token.source)));
  }

  bool counts(const std::string& model, const Counts& stored, const Counts& again) {
    for (int kind = 0; kind < kKinds; ++kind) {
      const std::string of = model + ", " + std::string(name(static_cast<Kind>(kind))) + ": ";
      const Count &was = stored.of[kind], &is = again.of[kind];
      if (!equal(of + "evaluations", was.calls, is.calls) || !equal(of + "rows", was.rows, is.rows))
        return false;
    }
    return true;
  }

  RecordedDrafts recorded_;
  std::string where_;
  Difference difference_;
};

}  // namespace

Difference first_difference(const SampleRow& stored, const SampleRow& again,
                            RecordedDrafts recorded) {
  Comparison comparison(recorded);
  const std::size_t both = std::min(stored.steps.size(), again.steps.size());
  for (std::size_t s = 0; s < both; ++s)
    if (!comparison.step(stored.steps[s], again.steps[s])) return comparison.result();
  comparison.equal("steps", static_cast<std::int64_t>(stored.steps.size()),
                   static_cast<std::int64_t>(again.steps.size()));
  return comparison.result();
}

}  // namespace draftlab
