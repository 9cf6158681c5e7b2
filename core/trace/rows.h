// What a run records beside its samples (core/loop/rows.h), as plain rows: its arms, where and with
// what it was made, and the curves of trainings. core/trace/schema.h says what each column means,
// and core/trace/trace_file.h writes the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/loop/rows.h"
#include "core/prob/types.h"

namespace draftlab {

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
  std::string model_family, checkpoint, checkpoint_digest, data_digest, tokenizer_digest;
  // The vocabulary of the target.
  std::int32_t vocabulary = 0;
  // The parameters of the target; 0 when unknown.
  std::int64_t parameters = 0;
  // The parameters and the digest of the checkpoint that the target was widened from; 0 and empty
  // when it was not.
  std::int64_t original_parameters = 0;
  std::string original_digest;
  // How the target's memory goes back (Rollback); empty when unknown.
  std::string rollback;
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

// One token of a prompt: one that was given, one that ends the text where it is generated, or one
// of a text that may be chosen (core/trace/prompts.h).
struct GivenRow {
  // The first arm that has these prompts.
  std::int32_t run = 0;
  // The index of the prompt in the task.
  std::int32_t prompt = 0;
  // A value of the enum GivenKind.
  std::int32_t kind = 0;
  // Which text may be chosen.
  std::int32_t list = 0;
  // The place on the canvas, or in its list.
  std::int32_t position = 0;
  std::int32_t token = 0;
};

// Where and with what the file was made; these are attributes of its root.
struct Provenance {
  std::string software, git_commit, host, cpu, gpu, libraries, config, title;
  // Times in ISO 8601, UTC.
  std::string started, ended;
  // Threads of the model, and processes that decoded side by side.
  std::int32_t threads = 0, workers = 1;
  std::int64_t seed = 0;
  std::string device, dtype;
  // The files of plugins that took part. They are a table of their own, and no attributes.
  std::vector<PluginRow> plugins = {};
};

// The interface of a receiver of finished samples.
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
