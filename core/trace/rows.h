// What a run records, as plain rows. core/trace/schema.h says what each column means, and
// core/trace/trace_file.h writes the rows.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
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

// One option of an arm, or one part: then `key` is its kind, and `value` the plugin's name.
struct SettingRow {
  // The row of the run table.
  std::int32_t run = 0;
  std::string key, value;
  // 1 when the key names a part.
  std::int32_t part = 0;
};

// One value by which a sweep tells an arm from its others.
struct AxisRow {
  // The row of the run table.
  std::int32_t run = 0;
  std::string key, value;
};

// One arm as a resolved config.
struct RunRow {
  // `id` is the hash, `arm` a short text of what distinguishes the arm, and `config` the resolved
  // config.
  std::string id, arm, config;
  // What the config calls the arm; empty where axes alone tell it from the others.
  std::string label;
  // Each is 0 or 1: whether the drafter is the sequential baseline, the verifier judges whole
  // paths, and drafts are judged one by one with the exact ratio test.
  std::int32_t sequential = 0, judges_paths = 0, ratio_test = 0;
  // The arm's rows of the tables of these names.
  std::vector<AxisRow> axes;
  std::vector<SettingRow> settings;
  std::string model_family, checkpoint, checkpoint_digest, data_digest;
  // The vocabulary of the target.
  std::int32_t vocabulary = 0;
  // The parameters of the target; 0 when unknown.
  std::int64_t parameters = 0;
  // The parameters and the digest of the checkpoint that the target was widened from; 0 and empty
  // when it was not.
  std::int64_t original_parameters = 0;
  std::string original_digest;
  // The digests of the plugin files whose parts the arm has, sorted, with blanks between them.
  std::string plugins;
};

// A library, a Python file or the address of a process whose parts took part.
struct PluginRow {
  // The digest is the SHA-256 of the file's bytes, in 64 hexadecimal digits.
  std::string digest, name, path;
  // The text of a Python file.
  std::string source;
};

// What became of one cell of a sweep. The manifest holds these rows in the order of the sweep.
struct CellRow {
  // `status` is done, failed, quarantined, running or missing.
  std::string id, arm, status, host, started;
  // The wall time of the attempts that ended, loading included.
  double seconds = 0;
  std::int32_t attempts = 0, exit_status = 0, signal = 0;
  // Why the last attempt failed.
  std::string reason;
  // The row of the run table; -1 when no sample is here.
  std::int32_t run = -1;
  // The number of samples that are here.
  std::int64_t samples = 0;
};

// How a tokenizer spells a token that occurs in the trace.
struct PieceRow {
  // The first arm of its checkpoint. Other arms of that checkpoint share its tokenizer.
  std::int32_t run = 0;
  std::int32_t token = 0;
  std::string text;
};

// Where and with what the file was made; these are attributes of its root.
struct Provenance {
  std::string software, git_commit, host, cpu, gpu, libraries, config, title;
  // Times in ISO 8601, UTC.
  std::string started, ended;
  std::int32_t threads = 0;
  std::int64_t seed = 0;
  std::string device, dtype;
  // The files of plugins that took part. They are a table of their own, and no attributes.
  std::vector<PluginRow> plugins = {};
};

// The interface of whoever wants finished samples.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void sample(SampleRow row) = 0;
};

// The curves of a training: one row a logged step, and one a validation.
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
