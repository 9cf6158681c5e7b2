// What decoding leaves behind, as plain rows: a sample, its steps, and the tokens and drafts of
// each. Whoever decodes fills them in; core/trace/schema.h says what each column of a trace means.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"
#include "core/prob/types.h"

namespace draftlab {

// One committed token.
struct TokenRow {
  std::int32_t position = 0;
  std::int32_t token = 0;
  // The rank of the token within the step.
  std::int32_t rank = 0;
  // A value of the enum Source.
  std::int32_t source = 0;
  // The target's probability of the token, as drawn.
  double p = kNotMeasured;
  // The drafter's probability of the token, as drawn.
  double q = kNotMeasured;
  // The probability, entropy and margin of the drafter's raw distribution.
  double confidence = kNotMeasured, entropy = kNotMeasured, margin = kNotMeasured;
  // Each is 0 or 1 (core/metrics/decode_metrics.h).
  std::int32_t ar_local = 0, ar_global = 0;
  // The value of a vector token.
  Eigen::VectorXd value;

  // Whether the row is a commitment: neither an edit nor a token that was taken back.
  bool commits() const {
    return source != static_cast<std::int32_t>(Source::edited) &&
           source != static_cast<std::int32_t>(Source::taken_back);
  }
};

// One drafted position.
struct DraftRow {
  std::int32_t position = 0;
  // The depth in the step; 0 for the first draft.
  std::int32_t depth = 0;
  std::int32_t token = 0;
  // What the position showed to a model of random canvases; -1 to others.
  std::int32_t shown = kNoToken;
  double p = kNotMeasured, q = kNotMeasured;
  // The acceptance probability.
  double accept = kNotMeasured;
  // The most that any rule could accept of this draft and its siblings (trace.limits).
  double limit = kNotMeasured;
  // 1 when accepted, 0 when not, and -1 when it was not judged.
  std::int32_t accepted = -1;
  double confidence = kNotMeasured, margin = kNotMeasured, entropy = kNotMeasured,
         renyi2 = kNotMeasured;
  // Log densities of a vector token: under the target, and as drawn.
  double log_p = kNotMeasured, log_q = kNotMeasured;
  // How the replacement of a vector token was found: the number of the target's draws, and whether
  // there were too many.
  std::int32_t proposals = 0, capped = 0;
  // The most probable tokens of the drafter's raw distribution, where trace.top_k asks for them.
  std::vector<std::pair<Token, double>> top;
};

// The scores of routers are cut to this range, because a file has no infinities.
inline constexpr double kLowestScore = -1e9, kHighestScore = 1e9;

// One step of the loop.
struct StepRow {
  std::int32_t step = 0, block = 0;
  // The positions left before the step.
  std::int32_t masked = 0;
  // The leading positions that a chain may judge.
  std::int32_t span = 0;
  std::int32_t drafted = 0, exact = 0;
  // 1 when the verifier judged and its verdict was committed.
  std::int32_t verified = 0;
  // The length of the accepted prefix, without the replacement token.
  std::int32_t accepted = 0;
  // The number of committed tokens, with the replacement token.
  std::int32_t committed = 0;
  // A value of the enum Stop.
  std::int32_t stop = 0;
  // 1 when routed to the verifier, 0 when not, and -1 when there was nothing to decide.
  std::int32_t routed = -1;
  double score = kNotMeasured, expected = kNotMeasured, propensity = 1;
  // N_hi: how many drafts the unmasker would have committed unverified (StepView::preview).
  std::int32_t preview = 0;
  // The accepted prefix that each attached estimator expected.
  std::vector<std::pair<std::string, double>> estimates;
  // The function evaluations of the target in this step alone.
  Counts counts;
  // The function evaluations of a draft model; zero without one.
  Counts drafter_counts;
  // The wall time of the whole step in nanoseconds.
  std::int64_t ns = 0;
  std::vector<TokenRow> tokens;
  std::vector<DraftRow> drafts;
};

// One decoded prompt.
struct SampleRow {
  // The index of the arm.
  std::int32_t run = 0;
  std::int32_t prompt_index = 0, sample_index = 0;
  // The status of a decoded sample is "done".
  std::string prompt_id, text, reference, status;
  // `valid` counts the tokens before the first end token.
  std::int32_t length = 0, prompt_tokens = 0, generated = 0, valid = 0;
  Counts counts, drafter_counts;
  // The wall time of decoding; NaN at batch > 1.
  double seconds = 0;
  // The part of that time spent outside the models.
  double own_seconds = 0;
  // The part of that time spent recording.
  double trace_seconds = 0;
  double ar_local = kNotMeasured, ar_global = kNotMeasured;
  double entropy_bits = kNotMeasured;
  // The judge's negative log-likelihood in nats, summed over its tokens.
  double judge_nll = kNotMeasured;
  std::int64_t judge_tokens = 0;
  // The scores that the task gives.
  std::vector<std::pair<std::string, double>> scores;
  // The number of steps, known also where the steps themselves were not read.
  std::int64_t iterations = 0;
  std::vector<StepRow> steps;
};

}  // namespace draftlab
