// Traces as columns: one trace, several, or all of a folder, with the config of every arm as keys
// to group by. Every table, figure and page is computed from a frame. Only the columns that are
// asked for are read, so millions of steps are no burden.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/trace_file.h"

namespace draftlab {

class Frame {
 public:
  // What was decoded alike, over all files: equal effective config, checkpoint and data.
  struct Arm {
    // The run's row, as the first file that has it says. Files before version 1.7 tell neither its
    // label nor its axes.
    RunRow run;
    // Dotted keys ("router.hysteresis.on"), and arm, id, checkpoint and model_family. The arm is
    // what the config calls it, or else the text of all that distinguishes it.
    std::map<std::string, std::string> config;
    // The first file that has it.
    int file = 0;
    const std::string* find(const std::string& key) const;
  };
  struct File {
    std::string path;
    Provenance provenance;
    // The dotted keys of what was asked for: run.batch, report.*.
    std::map<std::string, std::string> config;
    // Which drafts were recorded: none, span or all.
    std::string drafts;
    // Maps a run of the file to an arm.
    std::vector<int> arms;
    // Whether the file was gathered from the jobs of a sweep, which may have run on several
    // machines, or side by side.
    bool gathered = false;
    // The rows of its sample table, and the row of the frame's samples at which they begin.
    std::int64_t samples = 0, first = 0;
  };
  struct Sample {
    // `prompt` is an index into prompts().
    std::int32_t arm = 0, file = 0, prompt = 0;
    std::int32_t sample_index = 0;
    // Counts repeats of the same decode in several files that were named, which serve as timings.
    std::int32_t repeat = 0;
    // The row in its file.
    std::int64_t row = 0;
    // False marks a sample that another file of the same folder holds too.
    bool counts = true;
  };

  // Opens files, and folders whose traces (*.h5, also below) are taken, but for those of cells that
  // a gathered trace in the folder has whole. Throws DataError when there is none, or when one is
  // damaged. A process that wrote the files itself reads them as its own.
  explicit Frame(const std::vector<std::string>& paths,
                 ColumnReader::Trust trust = ColumnReader::Trust::lazy);

  // Returns the same traces, of which only some samples count.
  Frame restricted(const std::vector<char>& keep) const;

  const std::vector<Arm>& arms() const { return arms_; }
  const std::vector<File>& files() const { return files_; }
  const std::vector<Sample>& samples() const { return samples_; }
  // The ids of the prompts.
  const std::vector<std::string>& prompts() const { return prompts_; }
  // The value of a config key; "" where the arm has none.
  std::string key(int arm, const std::string& key) const;
  // The config keys in which arms differ, sorted.
  const std::vector<std::string>& varying() const { return varying_; }
  // The scores of the tasks, sorted.
  std::vector<std::string> scores() const;
  // The attached estimators (step_expected_NAME), sorted.
  std::vector<std::string> estimators() const;

  // A column of the sample table ("sample_nfe_draft", "sample_score_rouge1"), aligned with
  // samples(). It is NaN where a file lacks a score, or is older than the column; the same holds
  // for steps and their rows below. A count is NaN, too, where a file does not say it.
  std::vector<double> numbers(const std::string& column) const;
  std::vector<std::string> texts(const std::string& column) const;
  // Whether a file says the column: the source of an imported trace may not (`not_said`).
  bool says(int file, const std::string& column) const;

  // Says whether some trace's tokens are vectors.
  bool has_vectors() const;
  // The vector tokens of each sample, one after another in the order of positions; empty where
  // tokens are ids.
  std::vector<Eigen::VectorXd> vectors() const;

  // Steps, and rows of a table below them, of some whole samples of one file.
  struct Block {
    int file = 0;
    // The rows of the frame's samples().
    std::vector<std::int64_t> samples;
    // The first rows in the file.
    std::int64_t first_step = 0, first_row = 0;
    // Sample samples[i] has the steps [step_begin[i], step_begin[i + 1]), counted from first_step.
    std::vector<std::int64_t> step_begin;
    // For each step: its first row of the lower table, counted from first_row. It is empty without
    // a lower table.
    std::vector<std::int64_t> row_begin;
    // The columns, in the order asked for.
    std::vector<std::vector<double>> steps, rows;
    std::int64_t step_count() const { return step_begin.back(); }
  };
  using Visit = std::function<void(const Block&)>;
  // Visits everything block by block. A block has at most about a million rows (but at least one
  // sample).
  void walk(const std::vector<std::string>& step_columns, const Visit& visit) const;
  void walk(const std::vector<std::string>& step_columns, Table lower,
            const std::vector<std::string>& lower_columns, const Visit& visit) const;

  // Returns the whole trace, for showing single samples.
  std::shared_ptr<const Trace> open(int file) const;

 private:
  std::vector<std::string> named(Table table) const;
  void find_varying();
  void add_folder(const std::string& folder, std::map<std::string, int>& seen);
  std::shared_ptr<const Trace> add(const std::string& path, bool in_folder,
                                   std::map<std::string, int>& seen);
  std::vector<File> files_;
  std::vector<Arm> arms_;
  std::vector<Sample> samples_;
  std::vector<std::string> prompts_, varying_;
  std::map<std::string, int> arm_of_, prompt_of_;
  mutable std::map<int, std::shared_ptr<const Trace>> open_;
  ColumnReader::Trust trust_;
};

// Returns the dotted keys of a config text. Each line of a resolved config's sections is one key.
std::map<std::string, std::string> config_keys(const std::string& text);

}  // namespace draftlab
