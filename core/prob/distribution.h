// A distribution over token ids, as a model answered it or as a drafter drew from it.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

// What is done to a model's distribution before a token is drawn from it. It is the same for draft
// and target.
struct Sampling {
  // At 0 the distribution is a point mass at the most probable token.
  double temperature = 1;
  // Only the k most probable tokens are kept; 0 keeps all.
  std::int64_t top_k = 0;
  // Only the smallest set of most probable tokens whose mass reaches top_p is kept.
  double top_p = 1;
};

// A cheap, shared, immutable handle. Probabilities and summaries are computed when they are first
// asked for, so a row of logits that is only looked at in one place costs one pass. Two threads
// must not use the same distribution at once.
class Distribution {
 public:
  Distribution() = default;
  // The weights must not be negative and need not sum to one. Weights that are all zero are a
  // Fault.
  explicit Distribution(Eigen::ArrayXd weights);
  static Distribution point(Token token, int size);
  static Distribution uniform(int size);
  // Makes a distribution over a row of logits that `owner` keeps alive. The token `excluded` (the
  // mask token) gets probability zero before normalising.
  static Distribution from_logits(std::shared_ptr<const void> owner, std::span<const float> logits,
                                  Token excluded);

  bool empty() const { return !state_; }
  int size() const;
  double probability(Token token) const;
  // The logarithm of the probability in nats; -inf where the probability is zero.
  double log_probability(Token token) const;
  const Eigen::ArrayXd& probabilities() const;

  // The most probable token, and the lowest id among equals.
  Token argmax() const;
  // The most probable tokens, the most probable first, and the lowest id first among equals.
  std::vector<Token> best(int count) const;
  double max() const;
  // The largest minus the second largest probability.
  double margin() const;
  // The entropy in nats.
  double entropy() const;
  // The sum of the squared probabilities.
  double renyi2() const;
  // Returns the first token whose cumulative probability exceeds u, with u in [0, 1); it never
  // returns a token of probability zero.
  Token quantile(double u) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Returns the distribution that is drawn from, given the model's own (`raw`: temperature 1, the
// mask token removed).
Distribution shaped(const Distribution& raw, const Sampling& sampling);

// Returns max(p - q, 0), normalised, and `p` itself where that sum vanishes because q covers p.
Distribution residual(const Distribution& p, const Distribution& q);

}  // namespace draftlab
