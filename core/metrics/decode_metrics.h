// Computes what a decode is measured by; each quantity of the papers is defined here once. A
// quantity is NaN where there is nothing to average.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/loop/rows.h"

namespace draftlab {

// AR-ness says how far the order of commitment resembles left to right. There are two published
// readings, which differ: 1..7 at k = 2 has a local value of 5/7 in one and 1 in the other. An
// order lists positions as they were committed, each once.
//   DiffuCoder (App. A.2)
//     local@k: the k tokens before t are the k left neighbours of p_t, in any order; the first k
//       steps count 0.
//     global@k: p_t is among the k left-most positions still masked.
//   S2D2 (its code)
//     local@k: the last k+1 commitments are consecutive positions, ascending; the value is the mean
//       over n - k steps, and 0 if n < k+1.
//     global@k: as above.
double local_ar_diffucoder(std::span<const std::int32_t> order, int k);
double local_ar_s2d2(std::span<const std::int32_t> order, int k);
double global_ar(std::span<const std::int32_t> order, int k);

// Replaces positions by their ranks among the generated ones. Both papers generate one contiguous
// stretch; where given tokens lie in between, ranks give a strictly left-to-right infilling the
// AR-ness of a left-to-right completion.
std::vector<std::int32_t> ranks(std::span<const std::int32_t> order);

// Kendall's tau between the order of commitment and the position: 1 is left to right, -1 right to
// left.
double kendall_tau(std::span<const std::int32_t> order);

// Returns the positions of a finished sample in the order of their commitment. Edits of a position
// that was committed before are left out.
std::vector<std::int32_t> commit_order(const SampleRow& sample);

// Fills ar_local and ar_global of every token and of the sample, in DiffuCoder's reading over ranks
// at k = 2, the k of the S2D2 paper. A step's AR-ness is the mean over its tokens, and the sample's
// is the mean over all its tokens.
inline constexpr int kArWindow = 2;
void mark_ar(SampleRow& sample);

// What some steps drafted and kept, in sums; everything that is called acceptance anywhere is a
// ratio of two of these. Only verified steps judge drafts, and of those drafts only the ones that a
// chain may judge count (step_span; all drafts where a step names no span). Structural acceptances
// are drafts that are the target's own draws (slot 0 of self-drafting, head 1 of blockwise parallel
// decoding): with them the rate says what a step yields, without them how good the drafts are.
struct AcceptanceSums {
  // All steps, and those of them that the verifier judged.
  std::int64_t steps = 0, verified = 0;
  // In verified steps: the judged drafts, and the accepted prefixes without the replacement token.
  std::int64_t drafted = 0, accepted = 0;
  // The part of these two that is structural.
  std::int64_t structural_drafted = 0, structural_accepted = 0;
  // The tokens of all steps, and those of verified steps with the replacement or bonus token.
  std::int64_t committed = 0, verified_committed = 0;
  // The forwards of the target: those of all kinds, and those of kind `verify`.
  std::int64_t forwards = 0, verify_forwards = 0;

  void add(const StepRow& step);
  void add(const AcceptanceSums& other);
  // Returns accepted / drafted.
  double rate(bool structural = true) const;
  // Returns accepted / verified: the mean length without the replacement token.
  double length() const;
  // Returns the tokens committed in verified steps / verified: the mean length with the
  // replacement.
  double committed_length() const;
  // Returns committed / steps.
  double tokens_per_step() const;
  // Returns committed / function evaluations of the target.
  double tokens_per_forward() const;
};

struct AtDepth {
  // The verified steps that drafted this deep.
  std::int64_t drafted = 0;
  // Of these, the steps in which all drafts before this one were accepted.
  std::int64_t reached = 0;
  // Of these, the steps in which this draft was accepted.
  std::int64_t accepted = 0;
  // Returns accepted / drafted.
  double rate() const;
  // Returns accepted / reached.
  double conditional() const;
};

// The same run by the definitions of other projects, whose equal names mean different things:
//  - vllm (the metrics of its engine): a draft is one verification. The acceptance rate of a
//    position divides by all drafts, the shorter ones included. The mean acceptance length is
//    1 + accepted / drafts; the bonus token is counted even where none was committed.
//  - spec_bench: mean accepted tokens are the tokens generated a decoding step, over every step of
//    every answer, verified or not.
//  - sglang: accept length is completion tokens / verification passes, whoever generated them;
//    accept rate is accepted / drafted.
enum class Dialect { own, vllm, spec_bench, sglang };
struct Term {
  std::string name;
  double value;
  std::string definition;
};
std::vector<Term> acceptance_terms(const AcceptanceSums& sums, std::span<const AtDepth> depths,
                                   Dialect dialect);

// The Shannon entropy of the token frequencies, in bits.
double token_entropy_bits(std::span<const Token> tokens);

}  // namespace draftlab
