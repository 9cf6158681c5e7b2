// Traces whose numbers a reader can check: every step of an arm is alike.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "core/metrics/text_metrics.h"
#include "core/trace/hdf5_columns.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {

// One arm: what each of its steps does, and what its samples are worth.
struct MadeArm {
  std::string id = {}, label = {}, config = {};
  int steps = 4, drafted = 4, accepted = 2, exact = 0;
  bool verified = true, ratio_test = false;
  // The layers that a draft and a verification of a step go through; 0 where the model says none.
  int draft_layers = 0, verify_layers = 0;
  // What taking drafts back costs the target in a step.
  int kept_bytes = 0, rerun = 0;
  // Whether the trace says how many positions a verification computed.
  bool says_positions = true;
  // The forwards in which a step drafts, and those of a draft model of its own.
  int draft_calls = 1, own_forwards = 0;
  double seconds = 1, entropy = kNotMeasured, judge_nll = kNotMeasured;
  // The parameters of the checkpoint that the target was widened from.
  std::int64_t original_parameters = 0;
  std::function<double(int prompt)> score = [](int) { return 0.5; };
  std::function<std::string(int prompt)> text = [](int) { return ""; };
  // There is none where the task is no translation.
  std::function<BleuSums(int prompt)> bleu_sums = {};
};

// The words of a made label, of which those that say a key and its value in the made config are
// axes.
inline void name_run(const MadeArm& arm, RunRow& run) {
  std::istringstream words(arm.label);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals), last = key.substr(key.rfind('.') + 1);
    const std::string value = word.substr(std::min(equals, word.size() - 1) + 1);
    if (equals != std::string::npos && equals > 0 &&
        arm.config.find(last + " = " + value + "\n") != std::string::npos)
      run.axes.push_back({.key = key, .value = value});
    else
      run.label += (run.label.empty() ? "" : " ") + word;
  }
}

inline RunRow made_run(const MadeArm& arm) {
  RunRow run;
  name_run(arm, run);
  run.id = arm.id, run.arm = arm.label, run.config = arm.config, run.model_family = "table",
  run.data_digest = "d1";
  run.vocabulary = 8, run.parameters = 1000;
  run.ratio_test = arm.ratio_test;
  run.sequential = arm.config.find("drafter = stepwise") != std::string::npos;
  run.original_parameters = arm.original_parameters;
  if (arm.original_parameters > 0) run.original_digest = "0123";
  return run;
}

inline SampleRow made_sample(const MadeArm& arm, int run, int prompt, int repeat) {
  SampleRow row;
  row.run = run, row.prompt_index = prompt, row.sample_index = repeat;
  row.prompt_id = "p" + std::to_string(prompt);
  row.status = "done";
  row.prompt_tokens = 1;
  std::int32_t position = 1;
  for (int s = 0; s < arm.steps; ++s) {
    StepRow step;
    step.step = s;
    step.drafted = step.span = arm.drafted;
    step.exact = arm.exact;
    step.verified = step.routed = arm.verified;
    step.accepted = arm.verified ? arm.accepted : 0;
    step.committed = arm.verified ? arm.accepted + (arm.accepted < arm.drafted) : 1;
    step.counts[Kind::draft] = {arm.draft_calls, arm.draft_calls, arm.drafted,
                                1000000 * arm.draft_calls + 100000 * arm.drafted};
    if (arm.verified)
      step.counts[Kind::verify] = {1, 1, arm.says_positions ? 2 * arm.drafted : 0,
                                   1000000 + 200000 * arm.drafted};
    step.drafter_counts[Kind::draft].calls = arm.own_forwards;
    row.drafter_counts[Kind::draft].calls += arm.own_forwards;
    step.counts.layers = arm.draft_layers + (arm.verified ? arm.verify_layers : 0);
    step.ns = 3000000;
    for (int d = 0; d < arm.drafted; ++d) {
      DraftRow draft;
      draft.position = position + d, draft.depth = d, draft.q = 0.5, draft.confidence = 0.5,
      draft.margin = 0.25, draft.entropy = 1, draft.renyi2 = 0.375;
      draft.accepted = !arm.verified ? -1 : d < arm.accepted ? 1 : d == arm.accepted ? 0 : -1;
      if (arm.verified) draft.p = 0.25, draft.accept = 0.5;
      step.drafts.push_back(draft);
    }
    for (int t = 0; t < step.committed; ++t) {
      TokenRow token;
      token.position = position + t, token.rank = t;
      token.source = static_cast<std::int32_t>(!arm.verified      ? Source::threshold
                                               : t < arm.accepted ? Source::accepted
                                                                  : Source::resampled);
      step.tokens.push_back(token);
    }
    position += step.committed;
    row.generated += step.committed;
    for (Kind kind : {Kind::draft, Kind::verify}) {
      row.counts[kind].calls += step.counts[kind].calls,
          row.counts[kind].rows += step.counts[kind].rows;
      row.counts[kind].positions += step.counts[kind].positions,
          row.counts[kind].ns += step.counts[kind].ns;
    }
    step.counts.kept_bytes = arm.kept_bytes, step.counts.rerun = arm.rerun;
    row.counts.layers += step.counts.layers;
    row.counts.kept_bytes += arm.kept_bytes, row.counts.rerun += arm.rerun;
    row.steps.push_back(std::move(step));
  }
  row.valid = row.generated;
  row.length = position;
  std::int32_t open = row.length - 1;
  for (StepRow& step : row.steps) step.masked = open, open -= step.committed;
  row.seconds = arm.seconds;
  row.entropy_bits = arm.entropy;
  row.judge_nll = arm.judge_nll, row.judge_tokens = std::isnan(arm.judge_nll) ? 0 : 10;
  row.text = arm.text(prompt);
  row.scores = {{"exact_match", arm.score(prompt)}};
  if (arm.bleu_sums) {
    const BleuSums sums = arm.bleu_sums(prompt);
    for (std::size_t i = 0; i < sums.size(); ++i) row.scores.emplace_back(kBleuSums[i], sums[i]);
  }
  return row;
}

struct MadeRun {
  int prompts = 6, first = 0, repeats = 1;
  std::string config = {}, host = "here", started = {}, ended = {};
};

inline void write_arms(const std::string& path, const std::vector<MadeArm>& arms,
                       const MadeRun& made = {}) {
  Provenance provenance;
  provenance.host = made.host, provenance.config = made.config, provenance.started = made.started,
  provenance.ended = made.ended;
  std::vector<RunRow> runs;
  for (const MadeArm& arm : arms) runs.push_back(made_run(arm));
  TraceWriter writer(path, {provenance, runs}, TraceOptions{}, false);
  for (int prompt = made.first; prompt < made.first + made.prompts; ++prompt) {
    for (int repeat = 0; repeat < made.repeats; ++repeat) {
      for (std::size_t run = 0; run < arms.size(); ++run)
        writer.sample(made_sample(arms[run], static_cast<int>(run), prompt, repeat));
    }
  }
  writer.close();
}

// The same arms as the cells of a sweep that were gathered into one file.
inline void write_sweep(const std::string& path, const std::vector<MadeArm>& arms,
                        const MadeRun& made = {}, const std::string& status = "done") {
  std::vector<GatheredTrace> cells;
  std::vector<CellRow> manifest;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const std::string cell = path + ".cell" + std::to_string(i);
    write_arms(cell, {arms[i]}, made);
    const RunRow run = made_run(arms[i]);
    cells.push_back({cell, run.arm, made.first, made.prompts, made.repeats, run.label, run.axes});
    CellRow row;
    row.id = arms[i].id, row.arm = arms[i].label, row.status = status, row.attempts = 1;
    row.run = static_cast<std::int32_t>(i), row.samples = made.prompts * made.repeats;
    manifest.push_back(row);
  }
  gather(path, {}, cells, manifest);
  for (const GatheredTrace& cell : cells) std::filesystem::remove(cell.path);
}

// Writes a trace again without one column, as a version of the format that lacked it did.
inline void forget_column(const std::string& path, const std::string& column) {
  ColumnWriter writer(1);
  {
    const ColumnReader file(path);
    writer.root(kTraceMagic, trace_tables(), file.provenance());
    writer.attribute("drafts", file.text("drafts").value_or(""));
    const std::vector<std::string> names = file.names();
    for (const Table table : trace_tables()) {
      std::vector<ColumnInfo> columns = info(table).columns;
      const std::string prefix(named_prefix(table));
      for (const std::string& name : names)
        if (!prefix.empty() && name.starts_with(prefix))
          columns.push_back(named_column(table, name.substr(prefix.size())));
      writer.table(table, file.rows(table));
      for (const ColumnInfo& one : columns)
        if (one.name != column) writer.column(table, one, file.read(table, one));
    }
  }
  writer.save(path);
}

// Returns the sentence of the error that is thrown; "" where none is.
template <class Thrown>
std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "";
}

}  // namespace draftlab
