// Summarises how decodes go (S2D2, Figures 2, 5 and 6): how far from left to right in both
// published readings, and how confidence, entropy and tokens a step change between the first step
// and the last.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/trace/rows.h"

namespace draftlab {

// The choices that the authors' protocols leave open.
struct OrderReading {
  // Whether the tokens of one step count from left to right (their LLaDA script), or as committed,
  // the most confident first (SDAR).
  bool by_position = false;
  // Whether tokens from the first end-of-text token on, to the end of its block, count too.
  bool past_end = true;
};

// Returns the generated positions in the order of their commitment, counted from the end of the
// prompt and over generated ones only. Edits are left out.
std::vector<std::int32_t> generated_order(const SampleRow& sample,
                                          const OrderReading& reading = {});

// The means over samples, each of them weighing the same. Samples of fewer than two tokens have no
// order and are left out.
struct ArNess {
  // The values at k: the k tokens or positions before, and the k left-most masks
  // (core/metrics/decode_metrics.h).
  double local_diffucoder, local_s2d2, global;
  // Kendall's tau.
  double tau;
  std::int64_t samples = 0;
};
ArNess ar_ness(std::span<const SampleRow> samples, int k, const OrderReading& reading = {});

// The steps of each decode in equal parts, and what a part's steps committed, over all samples.
// Step s of n falls into the part that holds its middle, (s + 1/2) / n.
struct Course {
  // The means over committed tokens, where the drafter's distribution is known; entropy is in nats.
  std::vector<double> confidence, entropy;
  // The tokens committed a step.
  std::vector<double> tokens;
  // The AR-ness at k = 2 of the tokens, in DiffuCoder's reading.
  std::vector<double> local, global;
};
Course course(std::span<const SampleRow> samples, int parts);

// Returns both as plain text, an arm a row: AR-ness at k = 1 to 4, then the course in ten parts.
// The samples are of one trace.
std::string trajectories(const std::vector<RunRow>& runs, const std::vector<SampleRow>& samples);

}  // namespace draftlab
