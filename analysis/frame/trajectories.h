// Summarises how decodes go (S2D2, Figures 2, 5 and 6): how far from left to right in both
// published readings, and how confidence, entropy and tokens a step change between the first step
// and the last.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/table.h"
#include "core/trace/rows.h"

namespace draftlab {

// How the tokens of one step are ordered: as committed, the most confident first (SDAR), or from
// left to right (S2D2's LLaDA script).
enum class Ties { committed, position };
constexpr std::array<std::string_view, 2> words(Ties) { return {"committed", "position"}; }

// The choices that the authors' protocols leave open.
struct OrderReading {
  Ties ties = Ties::committed;
  // Whether tokens from the first end-of-text token on, to the end of its block, count too.
  bool past_end = true;
};

// Returns the sample with the tokens of each step in the order that the reading gives them, and
// with their AR-ness in that order.
SampleRow read_as(SampleRow sample, const OrderReading& reading);

// Says of each commitment of an order whether it ends k + 1 consecutive positions, which is local
// AR-ness in S2D2's reading: 1, 0, or -1 for the first k, of which that reading says nothing.
std::vector<int> ends_chains(std::span<const std::int32_t> order, int k);

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

// The steps of each decode in equal parts, and what a part's steps did, over all samples.
// Step s of n falls into the part that holds its middle, (s + 1/2) / n.
struct Course {
  // The means over committed tokens, where the drafter's distribution is known; entropy is in nats.
  std::vector<double> confidence, entropy;
  // The tokens committed a step.
  std::vector<double> tokens;
  // The accepted share of the judged drafts, the target's own draws left out.
  std::vector<double> accepted;
};
Course course(std::span<const SampleRow> samples, int parts);

// Returns both as tables, an arm a row: AR-ness at k = 1 to 4, then the course in ten parts, as far
// as it was measured. The samples are of one trace.
std::string trajectories(const std::vector<RunRow>& runs, const std::vector<SampleRow>& samples,
                         const OrderReading& reading = {}, TableForm form = TableForm::text);

}  // namespace draftlab
