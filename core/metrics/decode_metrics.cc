#include "core/metrics/decode_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace draftlab {
namespace {

double ratio(double above, double below) { return below > 0 ? above / below : kNotMeasured; }

// DiffuCoder's local test: the k commitments before `t` are the k left neighbours of order[t], in
// any order.
bool follows_its_neighbours(std::span<const std::int32_t> order, std::size_t t, int k) {
  if (t < static_cast<std::size_t>(k)) return false;
  for (int distance = 1; distance <= k; ++distance) {
    const auto recent = order.subspan(t - k, k);
    if (std::find(recent.begin(), recent.end(), order[t] - distance) == recent.end()) return false;
  }
  return true;
}

// Tells whether a position is met for the first time.
class FirstTime {
 public:
  bool operator()(std::int32_t position) {
    const auto at = static_cast<std::size_t>(position);
    if (at >= seen_.size()) seen_.resize(at + 1);
    return !std::exchange(seen_[at], 1);
  }

 private:
  std::vector<char> seen_;
};

// Says of each commitment whether it is among the k left-most of those still to come, itself
// included.
std::vector<char> among_leftmost(std::span<const std::int32_t> order, int k) {
  const std::vector<std::int32_t> rank = ranks(order);
  std::vector<char> masked(rank.size(), 1), result(rank.size());
  std::size_t first = 0;  // The left-most masked rank.
  for (std::size_t t = 0; t < rank.size(); ++t) {
    while (!masked[first]) ++first;
    int left = 0;  // Counts the masked positions to the left of this one.
    for (std::int32_t at = static_cast<std::int32_t>(first); at < rank[t] && left < k; ++at)
      left += masked[at];
    result[t] = left < k;
    masked[rank[t]] = 0;
  }
  return result;
}

int judged_drafts(const StepRow& step) {
  return step.span > 0 ? std::min(step.span, step.drafted) : step.drafted;
}

}  // namespace

double local_ar_diffucoder(std::span<const std::int32_t> order, int k) {
  int hits = 0;
  for (std::size_t t = 0; t < order.size(); ++t) hits += follows_its_neighbours(order, t, k);
  return ratio(hits, static_cast<double>(order.size()));
}

double local_ar_s2d2(std::span<const std::int32_t> order, int k) {
  if (order.size() < static_cast<std::size_t>(k) + 1) return 0;
  int chain = 0, hits = 0;  // `chain` counts the ascending steps of one that end here.
  for (std::size_t t = 1; t < order.size(); ++t) {
    chain = order[t] == order[t - 1] + 1 ? chain + 1 : 0;
    hits += t >= static_cast<std::size_t>(k) && chain >= k;
  }
  return static_cast<double>(hits) / static_cast<double>(order.size() - k);
}

double global_ar(std::span<const std::int32_t> order, int k) {
  const std::vector<char> hits = among_leftmost(order, k);
  return order.empty() ? 0
                       : static_cast<double>(std::accumulate(hits.begin(), hits.end(), 0)) /
                             static_cast<double>(order.size());
}

std::vector<std::int32_t> ranks(std::span<const std::int32_t> order) {
  std::vector<std::int32_t> sorted(order.begin(), order.end()), result;
  std::sort(sorted.begin(), sorted.end());
  for (std::int32_t position : order) {
    result.push_back(static_cast<std::int32_t>(
        std::lower_bound(sorted.begin(), sorted.end(), position) - sorted.begin()));
  }
  return result;
}

double kendall_tau(std::span<const std::int32_t> order) {
  std::int64_t ascending = 0, pairs = 0;
  for (std::size_t later = 1; later < order.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      ascending += order[earlier] < order[later];
    pairs += static_cast<std::int64_t>(later);
  }
  return ratio(static_cast<double>(2 * ascending - pairs), static_cast<double>(pairs));
}

std::vector<std::int32_t> commit_order(const SampleRow& sample) {
  std::vector<std::int32_t> order;
  FirstTime first_time;
  for (const StepRow& step : sample.steps) {
    for (const TokenRow& token : step.tokens) {
      if (first_time(token.position)) order.push_back(token.position);
    }
  }
  return order;
}

void mark_ar(SampleRow& sample) {
  const std::vector<std::int32_t> order = ranks(commit_order(sample));
  const std::vector<char> leftmost = among_leftmost(order, kArWindow);
  FirstTime first_time;
  std::size_t t = 0;
  int local = 0, global = 0;
  for (StepRow& step : sample.steps) {
    for (TokenRow& token : step.tokens) {
      if (!first_time(token.position)) continue;  // This token is an edit.
      local += token.ar_local = follows_its_neighbours(order, t, kArWindow);
      global += token.ar_global = leftmost[t];
      ++t;
    }
  }
  sample.ar_local = ratio(local, static_cast<double>(t));
  sample.ar_global = ratio(global, static_cast<double>(t));
}

void AcceptanceSums::add(const StepRow& step) {
  ++steps;
  committed += step.committed;
  forwards += step.counts.nfe();
  verify_forwards += step.counts[Kind::verify].calls;
  if (!step.verified) return;
  const int judged_here = judged_drafts(step);
  ++verified;
  drafted += judged_here;
  accepted += step.accepted;
  structural_drafted += std::min(step.exact, judged_here);
  structural_accepted += std::min(step.exact, step.accepted);
  verified_committed += step.committed;
}

void AcceptanceSums::add(const AcceptanceSums& other) {
  steps += other.steps, verified += other.verified;
  drafted += other.drafted, accepted += other.accepted;
  structural_drafted += other.structural_drafted, structural_accepted += other.structural_accepted;
  committed += other.committed, verified_committed += other.verified_committed;
  forwards += other.forwards, verify_forwards += other.verify_forwards;
}

double AcceptanceSums::rate(bool structural) const {
  return structural ? ratio(static_cast<double>(accepted), static_cast<double>(drafted))
                    : ratio(static_cast<double>(accepted - structural_accepted),
                            static_cast<double>(drafted - structural_drafted));
}
double AcceptanceSums::length() const {
  return ratio(static_cast<double>(accepted), static_cast<double>(verified));
}
double AcceptanceSums::committed_length() const {
  return ratio(static_cast<double>(verified_committed), static_cast<double>(verified));
}
double AcceptanceSums::tokens_per_step() const {
  return ratio(static_cast<double>(committed), static_cast<double>(steps));
}
double AcceptanceSums::tokens_per_forward() const {
  return ratio(static_cast<double>(committed), static_cast<double>(forwards));
}

// Drafts that are the target's own draws lead, hence are always reached and accepted, untested.
static double trial_acceptance(const AcceptanceSums& sums, std::span<const AtDepth> depths) {
  std::int64_t tested = -sums.structural_drafted, accepted = -sums.structural_accepted;
  for (const AtDepth& depth : depths) tested += depth.reached, accepted += depth.accepted;
  return depths.empty() ? kNotMeasured
                        : ratio(static_cast<double>(accepted), static_cast<double>(tested));
}

std::vector<Term> acceptance_terms(const AcceptanceSums& sums, std::span<const AtDepth> depths,
                                   Dialect dialect) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  std::vector<Term> terms;
  switch (dialect) {
    case Dialect::own:
      terms = {{"draft acceptance", sums.rate(), "accepted / drafted, in verified steps"},
               {"draft acceptance, tested", sums.rate(false),
                "the same without drafts that are the target's own draws"},
               {"trial acceptance", trial_acceptance(sums, depths),
                "accepted / tested: drafts behind a rejection are drafted, but never tested"},
               {"accepted length", sums.length(),
                "accepted / verified steps, without the replacement token"},
               {"committed length", sums.committed_length(),
                "tokens committed in verified steps / verified steps"},
               {"tokens a step", sums.tokens_per_step(), "tokens / steps"},
               {"tokens a forward", sums.tokens_per_forward(),
                "tokens / function evaluations of the target during steps"}};
      for (std::size_t d = 0; d < depths.size(); ++d) {
        terms.push_back({"rate at depth " + std::to_string(d), depths[d].rate(),
                         "accepted here / verified steps that drafted so deep"});
        terms.push_back({"conditional rate at depth " + std::to_string(d), depths[d].conditional(),
                         "accepted here / verified steps that reached it"});
      }
      break;
    case Dialect::vllm:
      terms = {{"draft acceptance rate", sums.rate(), "accepted / drafted tokens"},
               {"mean acceptance length", 1 + ratio(number(sums.accepted), number(sums.verified)),
                "1 + accepted / drafts (verifications)"}};
      for (std::size_t d = 0; d < depths.size(); ++d) {
        terms.push_back({"acceptance rate at position " + std::to_string(d),
                         ratio(number(depths[d].accepted), number(sums.verified)),
                         "accepted here / all drafts, shorter ones included"});
      }
      break;
    case Dialect::spec_bench:
      terms = {{"mean accepted tokens", sums.tokens_per_step(),
                "tokens generated / decoding steps, verified or not"}};
      break;
    case Dialect::sglang:
      terms = {{"accept length", ratio(number(sums.committed), number(sums.verify_forwards)),
                "completion tokens / verification passes"},
               {"accept rate", sums.rate(), "accepted / drafted tokens"}};
      break;
  }
  return terms;
}

double AtDepth::rate() const {
  return ratio(static_cast<double>(accepted), static_cast<double>(drafted));
}
double AtDepth::conditional() const {
  return ratio(static_cast<double>(accepted), static_cast<double>(reached));
}

double token_entropy_bits(std::span<const Token> tokens) {
  if (tokens.empty()) return kNotMeasured;
  std::vector<Token> sorted(tokens.begin(), tokens.end());
  std::sort(sorted.begin(), sorted.end());
  double bits = 0;
  for (auto run = sorted.begin(), end = run; run != sorted.end(); run = end) {
    end = std::upper_bound(run, sorted.end(), *run);
    const double share = static_cast<double>(end - run) / static_cast<double>(tokens.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

}  // namespace draftlab
