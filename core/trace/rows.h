// What a run records. Plain rows; core/trace/schema.h says what each column means,
// core/trace/trace_file.h writes them.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/parts/model.h"
#include "core/prob/types.h"

namespace draftlab {

// One committed token.
struct TokenRow {
  std::int32_t position = 0;
  std::int32_t token = 0;
  std::int32_t rank = 0;    // within the step
  std::int32_t source = 0;  // Source
  double p = kNotMeasured;  // target probability, as drawn
  double q = kNotMeasured;  // drafter's probability, as drawn
  double confidence = kNotMeasured, entropy = kNotMeasured,
         margin = kNotMeasured;              // of the drafter's raw distribution
  std::int32_t ar_local = 0, ar_global = 0;  // 0 or 1 (core/metrics/decode_metrics.h)
  Eigen::VectorXd value;                     // of a vector token
};

// One drafted position.
struct DraftRow {
  std::int32_t position = 0;
  std::int32_t depth = 0;  // 0 for the first draft of the step
  std::int32_t token = 0;
  double p = kNotMeasured, q = kNotMeasured;
  double accept = kNotMeasured;  // acceptance probability
  std::int32_t accepted = -1;    // 1, 0, or -1: not judged
  double confidence = kNotMeasured, margin = kNotMeasured, entropy = kNotMeasured,
         renyi2 = kNotMeasured;
  double log_p = kNotMeasured,
         log_q = kNotMeasured;  // of a vector token: log densities under the target, and as drawn
  std::int32_t proposals = 0, capped = 0;     // how its replacement was found: draws of the target,
                                              // and whether there were too many
  std::vector<std::pair<Token, double>> top;  // most probable tokens of the drafter's raw
                                              // distribution, where trace.top_k asks for them
};

struct StepRow {
  std::int32_t step = 0, block = 0;
  std::int32_t masked = 0;  // positions left before the step
  std::int32_t span = 0;    // leading positions a chain may judge
  std::int32_t drafted = 0, exact = 0;
  std::int32_t verified = 0;   // 1 when the verifier judged and its verdict was committed
  std::int32_t accepted = 0;   // accepted prefix length, without the replacement token
  std::int32_t committed = 0;  // with it
  std::int32_t stop = 0;       // Stop
  std::int32_t routed = -1;    // 1 to the verifier, 0 not, -1: there was nothing to decide
  double score = kNotMeasured, expected = kNotMeasured, propensity = 1;
  std::vector<std::pair<std::string, double>>
      estimates;          // expected accepted prefix, of each attached estimator
  Counts counts;          // of the target, this step alone
  Counts drafter_counts;  // of a draft model; zero without one
  std::int64_t ns = 0;    // the whole step
  std::vector<TokenRow> tokens;
  std::vector<DraftRow> drafts;
};

// One decoded prompt.
struct SampleRow {
  std::int32_t run = 0;  // index of the arm
  std::int32_t prompt_index = 0, sample_index = 0;
  std::string prompt_id, text, reference, status;  // status: "done"
  std::int32_t length = 0, prompt_tokens = 0, generated = 0,
               valid = 0;  // valid: tokens before the first end token
  Counts counts, drafter_counts;
  double seconds = 0;        // wall time of decoding; NaN at batch > 1
  double own_seconds = 0;    // of which outside the models
  double trace_seconds = 0;  // of which recording
  double ar_local = kNotMeasured, ar_global = kNotMeasured;
  double entropy_bits = kNotMeasured;
  double judge_nll = kNotMeasured;  // nats, summed
  std::int64_t judge_tokens = 0;
  std::vector<std::pair<std::string, double>> scores;  // the task's
  std::int64_t iterations = 0;                         // steps, also where they were not read
  std::vector<StepRow> steps;
};

// One arm: a resolved config.
struct RunRow {
  std::string id, arm, config;  // hash; short label of what distinguishes it; the resolved config
  std::string model_family, checkpoint, checkpoint_digest, data_digest;
  std::int32_t vocabulary = 0;  // of the target
  std::int64_t parameters = 0;  // of the target; 0: unknown
};

// One cell of a sweep: what became of it. Rows of the manifest, in the order of the sweep.
struct CellRow {
  std::string id, arm, status, host,
      started;         // status: done, failed, quarantined, running, missing
  double seconds = 0;  // wall time of the attempts that ended, loading included
  std::int32_t attempts = 0, exit_status = 0, signal = 0;
  std::string reason;        // why the last attempt failed
  std::int32_t run = -1;     // row of the run table; -1: no sample is here
  std::int64_t samples = 0;  // that are here
};

// How a tokenizer spells a token that occurs.
struct PieceRow {
  std::int32_t run =
      0;  // the first arm of its checkpoint; other arms of that checkpoint share its tokenizer
  std::int32_t token = 0;
  std::string text;
};

// Attributes of the file's root.
struct Provenance {
  std::string software, git_commit, host, cpu, gpu, libraries, config, title;
  std::string started, ended;  // ISO 8601, UTC
  std::int32_t threads = 0;
  std::int64_t seed = 0;
  std::string device, dtype;
};

// Whoever wants finished samples.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void sample(SampleRow row) = 0;
};

// A run of training: one row a logged step, one a validation.
struct CurveRow {
  std::int64_t step = 0;
  double seconds = 0, loss = kNotMeasured, learning_rate = kNotMeasured, grad_norm = kNotMeasured,
         mask_rate = kNotMeasured, tokens_per_second = kNotMeasured;
};
struct ValidationRow {
  std::int64_t step = 0;
  double seconds = 0, loss = kNotMeasured, perplexity = kNotMeasured, entropy_bits = kNotMeasured,
         nfe = kNotMeasured, nfe_per_token = kNotMeasured;
  double loss_sequential = kNotMeasured, accuracy = kNotMeasured;
};

}  // namespace draftlab
