// What is computed from a decode: each quantity of the papers is defined here once. NaN where there
// is nothing to average.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/trace/rows.h"

namespace draftlab {

// AR-ness: how far the order of commitment resembles left to right. There are two published
// readings, which differ: 1..7 at k = 2 has a local value of 5/7 in one and 1 in the other. An
// order lists positions as they were committed, each once.
//   DiffuCoder (App. A.2): local@k: the k tokens before t are the k left neighbours of p_t, in any
//   order; the first k steps count 0.
//                          global@k: p_t is among the k left-most positions still masked.
//   S2D2 (its code):       local@k: the last k+1 commitments are consecutive positions, ascending;
//   mean over n - k steps, 0 if n < k+1.
//                          global@k: as above.
double local_ar_diffucoder(std::span<const std::int32_t> order, int k);
double local_ar_s2d2(std::span<const std::int32_t> order, int k);
double global_ar(std::span<const std::int32_t> order, int k);

// Both papers generate one contiguous stretch. Where given tokens lie in between, positions are
// replaced by their ranks among the generated ones, so that a strictly left-to-right infilling has
// the AR-ness of a left-to-right completion.
std::vector<std::int32_t> ranks(std::span<const std::int32_t> order);

// Kendall's tau between order of commitment and position: 1 left to right, -1 right to left.
double kendall_tau(std::span<const std::int32_t> order);

// Positions of a finished sample in the order of their commitment; edits of a position already
// there are left out.
std::vector<std::int32_t> commit_order(const SampleRow& sample);

// Fills ar_local and ar_global of every token and of the sample: DiffuCoder's reading over ranks at
// k = 2, the k of the S2D2 paper. A step's AR-ness is the mean over its tokens, the sample's the
// mean over all.
inline constexpr int kArWindow = 2;
void mark_ar(SampleRow& sample);

// The acceptance vocabulary. What some steps drafted and kept, in sums; everything that is called
// acceptance anywhere is a ratio of two of these. Only verified steps judge drafts, and of those
// the ones that a chain may judge (step_span; all where a step names no span). Structural
// acceptances are drafts that are the target's own draws (slot 0 of self-drafting, head 1 of block
// parallel decoding): with them the rate says what a step yields, without them how good the drafts
// are.
struct AcceptanceSums {
  std::int64_t steps = 0, verified = 0;  // of which judged by the verifier
  std::int64_t
      drafted = 0,
      accepted = 0;  // in verified steps: judged drafts; the accepted prefix, no replacement token
  std::int64_t structural_drafted = 0, structural_accepted = 0;  // of which
  std::int64_t committed = 0,
               verified_committed =
                   0;  // tokens of all steps; of verified ones: with replacement or bonus token
  std::int64_t forwards = 0, verify_forwards = 0;  // of the target: all kinds; of kind `verify`

  void add(const StepRow& step);
  void add(const AcceptanceSums& other);
  double rate(bool structural = true) const;  // accepted / drafted
  double length() const;                      // accepted / verified: without the replacement token
  double committed_length() const;            // committed in verified steps / verified: with it
  double tokens_per_step() const;             // committed / steps
  double tokens_per_forward() const;          // committed / target NFE
};
AcceptanceSums acceptance_sums(std::span<const SampleRow> samples);

struct AtDepth {
  std::int64_t drafted = 0;    // verified steps that drafted this deep
  std::int64_t reached = 0;    // of which the walk arrived here
  std::int64_t accepted = 0;   // of which this draft was accepted
  double rate() const;         // accepted / drafted
  double conditional() const;  // accepted / reached
};
std::vector<AtDepth> acceptance_by_depth(std::span<const SampleRow> samples,
                                         bool structural = true);
double acceptance_rate(std::span<const SampleRow> samples,
                       bool structural = true);  // accepted / drafted, sums over all depths

// The same run in the words of others. Names and formulas are theirs, and equal names mean
// different things:
//   vllm        metrics of its engine: a draft is one verification. The acceptance rate of a
//   position divides by all drafts, the
//               shorter ones included; the mean acceptance length is 1 + accepted / drafts, the
//               bonus token counted even where none was committed.
//   spec_bench  mean accepted tokens: tokens generated a decoding step, over every step of every
//   answer, verified or not. sglang      accept length: completion tokens / verification passes,
//   whoever generated them; accept rate: accepted / drafted.
enum class Dialect { own, vllm, spec_bench, sglang };
struct Term {
  std::string name;
  double value;
  std::string definition;
};
std::vector<Term> acceptance_terms(const AcceptanceSums& sums, std::span<const AtDepth> depths,
                                   Dialect dialect);

double mean_accepted_prefix(
    std::span<const SampleRow> samples);  // over verified steps, without the replacement
double mean_committed(std::span<const SampleRow> samples);        // over all steps, with it
double tokens_per_forward(std::span<const SampleRow> samples);    // generated / target NFE, sums
double tokens_per_iteration(std::span<const SampleRow> samples);  // generated / steps, sums
double valid_per_forward(
    std::span<const SampleRow> samples);  // the same of tokens before the first end token

double perplexity(
    std::span<const SampleRow> samples);  // exp(sum of judge nats / sum of judge tokens)
double token_entropy_bits(std::span<const Token> tokens);  // Shannon, over token frequencies

}  // namespace draftlab
