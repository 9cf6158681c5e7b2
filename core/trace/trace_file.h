// A trace on disk (docs/TRACE_FORMAT.md). It is written as units of finished samples, which are
// merged into one file at the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/trace/columns.h"
#include "core/trace/hdf5_columns.h"
#include "core/trace/prompts.h"
#include "core/trace/rows.h"
#include "core/trace/trace_options.h"

namespace draftlab {

// What a trace says of all its samples: how they were made, and the runs that they belong to.
struct TraceHead {
  Provenance provenance;
  std::vector<RunRow> runs;
  // A cell's trace is a part of its sweep's.
  Portion portion = Portion::whole;
};

// Collects finished samples. When enough tokens or time have gathered they become a unit,
// PATH.units/unit-NNNNNN-WRITER.h5: a whole trace of those samples, whose final name is the record
// that they are done. close() merges the units into PATH. So whatever kills the process, a finished
// unit is never lost and an unfinished one never half there. Units carry the name of their writer,
// so that two writers that a lock could not keep apart (some file systems have no locks) do no
// harm.
class TraceWriter final : public TraceSink {
 public:
  // Throws OutputError when `path` or its units exist and `resume` is false, when the folder cannot
  // be written, or when another process writes there. Throws ConfigError when `resume` is true and
  // what is there was written by other runs.
  TraceWriter(std::string path, TraceHead head, const TraceOptions& options, bool resume);
  // When close() was not called, what is buffered becomes a unit if it can, and the units stay for
  // a resume.
  ~TraceWriter() override;
  TraceWriter(const TraceWriter&) = delete;

  bool finished(int run, int prompt_index, int sample_index) const {
    return done_.count({prompt_index, sample_index, run}) > 0;
  }
  std::size_t finished() const { return done_.size(); }
  // Makes the trace carry the text of every token that occurs, from here on. A speller that returns
  // "" does not know the token.
  void spell_with(std::function<std::string(int run, Token token)> spell) {
    spell_ = std::move(spell);
  }
  // Makes the trace carry the tokens of every prompt that occurs, from here on, where the options
  // ask for them. Throws ConfigError where what is continued lacks them.
  void take_prompts_from(std::function<Prompt(int run, int prompt)> prompt_of);
  void sample(SampleRow row) override;
  // Makes a unit of what is buffered.
  void flush();
  // Says that this process is a copy of the one that opened the trace (core/base/copies.h): it
  // writes units under a name of its own, and the other merges them.
  void write_as_copy();
  // Takes what copies of this process wrote as its own.
  void take_from_copies();
  // Says of the libraries what is known only when samples were decoded.
  void describe_libraries(std::string libraries) {
    head_.provenance.libraries = std::move(libraries);
  }
  // Merges the units. Rows are sorted by prompt, repeat and run, so that the contents do not depend
  // on who finished first.
  void close();
  // Does the same in two parts, so that no caller waits for the disk: this call makes the file's
  // contents, and the function it returns (empty when nothing is left) puts them on the disk. That
  // function knows nothing of HDF5, and may run beside anything but another call of this writer.
  std::function<void()> closing();

 private:
  // A key holds prompt, repeat and run.
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
  struct RowRange {
    std::int64_t first = 0, count = 0;
  };
  void open_folder(bool resume, bool written);
  void adopt(const std::string& file, ColumnReader::Trust trust);
  void check_runs(const ColumnReader& file) const;
  void check_recorded(const ColumnReader& file);
  void take_provenance(const ColumnReader& file);
  void add_steps(std::vector<StepRow>& steps, std::int64_t sample_row);
  RowRange add_tokens(const StepRow& step, std::int64_t step_row);
  RowRange add_drafts(StepRow& step, std::int64_t step_row);
  void note_tokens(const SampleRow& row);
  bool is_due() const;
  // Returns the units that stand in the folder, in the order of their numbers.
  std::vector<std::string> units() const;
  // Returns a trace of what is buffered.
  std::vector<std::byte> image(int level, Portion portion) const;
  void leave_folder();
  std::int32_t speller_of(std::int32_t run) const;
  // Returns the rows of the prompts of what is buffered.
  Columns given() const;
  void write_root(ColumnWriter& file) const;
  std::string path_, folder_;
  TraceHead head_;
  RecordedDrafts drafts_;
  bool prompts_;
  std::int64_t unit_tokens_;
  double unit_seconds_;
  std::chrono::steady_clock::time_point rolled_;
  Columns samples_{Table::sample}, steps_{Table::step}, tokens_{Table::token},
      drafted_{Table::draft};
  std::function<std::string(int, Token)> spell_;
  std::function<Prompt(int, int)> prompt_of_;
  // A file that is continued and lacks the tokens of its prompts; empty for none.
  std::string without_prompts_;
  // The step of each token or draft that is being added.
  std::vector<std::int64_t> parents_;
  // For each speller, the tokens that occur in what is buffered.
  std::map<std::int32_t, std::vector<bool>> occurring_;
  std::set<Key> done_, buffered_;
  // The name that our units carry.
  std::string writer_;
  // A finished PATH comes first, then the units in the order of their numbers.
  std::vector<std::string> sources_;
  int next_unit_ = 0;
  // Whether what is buffered is sorted as a merge would sort it.
  bool in_order_ = true;
  int lock_ = -1;
  bool closed_ = false;
};

// One finished trace of a sweep, and what of it is wanted: prompts [first, first + prompts), and
// `samples` repeats of each.
struct GatheredTrace {
  // The arm is renamed to what distinguishes the cell, unless that is empty.
  std::string path, arm;
  std::int64_t first = 0, prompts = 0, samples = 0;
  // What the cell's run row says besides, once it is renamed.
  std::string label = {};
  std::vector<AxisRow> axes = {};
};

// Merges traces of one run each into `path`, so that run i is cells[i], together with the manifest
// of the sweep. It copies all rows: no link to a cell's own file stays. Throws DataError when a
// cell's trace is damaged, or records other drafts.
void gather(const std::string& path, Provenance provenance, const std::vector<GatheredTrace>& cells,
            std::vector<CellRow> manifest);

// A trace that is read. Every method throws DataError when the file is not a trace, or is damaged.
class Trace {
 public:
  explicit Trace(const std::string& path, ColumnReader::Trust trust = ColumnReader::Trust::foreign);
  ~Trace();

  const std::string& path() const;
  const Provenance& provenance() const { return provenance_; }
  // Which drafts were recorded: none, span or all.
  const std::string& drafts() const { return drafts_; }
  // Whether the tokens of all prompts were recorded.
  bool has_prompts() const { return file_->text("prompts") == kAllPrompts; }
  const std::vector<RunRow>& runs() const { return runs_; }
  std::int64_t rows(Table table) const;
  std::int64_t samples() const { return rows(Table::sample); }
  // Returns the tokens of the recorded prompts; nothing where none were recorded.
  GivenRows given() const;
  // Returns samples [first, first + count), with or without their steps.
  std::vector<SampleRow> read(std::int64_t first, std::int64_t count, bool steps = true) const;
  std::vector<SampleRow> read(bool steps = true) const { return read(0, samples(), steps); }
  // Throws DataError when there is no such sample.
  SampleRow sample(std::int64_t index) const;
  // Returns rows [first, first + count) of a table.
  Columns columns(Table table, std::int64_t first, std::int64_t count) const;
  const ColumnReader& file() const { return *file_; }

 private:
  std::unique_ptr<ColumnReader> file_;
  std::map<Table, std::vector<ColumnInfo>> named_;
  Provenance provenance_;
  std::string drafts_;
  std::vector<RunRow> runs_;
  std::vector<std::int64_t> first_step_, n_steps_;
};

// Returns the manifest of a sweep. It is empty where the trace is not that of a sweep.
std::vector<CellRow> manifest(const Trace& trace);

}  // namespace draftlab
