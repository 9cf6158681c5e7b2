// A distribution over token ids, as a model answered it or as a drafter drew from it.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

// What is done to a model's distribution before a token is drawn from it, alike for draft and
// target.
struct Sampling {
  double temperature = 1;  // 0: a point mass at the most probable token
  std::int64_t top_k = 0;  // keep the k most probable; 0 keeps all
  double top_p = 1;        // keep the smallest set of most probable tokens whose mass reaches top_p
};

// A cheap, shared, immutable handle. Probabilities and summaries are computed when first asked for,
// so a row of logits that is only looked at in one place costs one pass. Not for use by two threads
// at once.
class Distribution {
 public:
  Distribution() = default;
  // `weights` are non-negative and need not sum to one; all zero is a Fault.
  explicit Distribution(Eigen::ArrayXd weights);
  static Distribution point(Token token, int size);
  static Distribution uniform(int size);
  // Over a row of logits that `owner` keeps alive. `excluded` (the mask token) gets probability
  // zero before normalising.
  static Distribution from_logits(std::shared_ptr<const void> owner, std::span<const float> logits,
                                  Token excluded);

  bool empty() const { return !state_; }
  int size() const;
  double probability(Token token) const;
  double log_probability(Token token) const;  // nats; -inf where the probability is zero
  const Eigen::ArrayXd& probabilities() const;

  Token argmax() const;  // the lowest id among equals
  std::vector<Token> best(int count)
      const;  // the most probable tokens, most probable first, the lowest id among equals
  double max() const;
  double margin() const;   // largest minus second largest probability
  double entropy() const;  // nats
  double renyi2() const;   // sum of squares
  // The first token whose cumulative probability exceeds u, u in [0, 1); never one of probability
  // zero.
  Token quantile(double u) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The distribution that is drawn from, given the model's (`raw`: temperature 1, mask removed).
Distribution shaped(const Distribution& raw, const Sampling& sampling);

// max(p - q, 0), normalised; `p` itself where that sum vanishes (q covers p).
Distribution residual(const Distribution& p, const Distribution& q);

}  // namespace draftlab
