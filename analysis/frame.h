// Traces as columns: one, several, or all of a folder, the config of every arm as keys to group by.
// What every table, figure and page is computed from. Only the columns that are asked for are read,
// so millions of steps are no burden.
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
    RunRow run;  // as the first file that has it says
    std::map<std::string, std::string>
        config;    // dotted keys ("router.hysteresis.on"), and arm, id, checkpoint, model_family
    int file = 0;  // first file that has it
    const std::string* find(const std::string& key) const;
  };
  struct File {
    std::string path;
    Provenance provenance;
    std::map<std::string, std::string>
        config;             // dotted keys of what was asked for: run.batch, report.*
    std::string drafts;     // which were recorded: none, span, all
    std::vector<int> arms;  // run of the file -> arm
    bool gathered =
        false;  // from the jobs of a sweep, which may have run on several machines, or side by side
    std::int64_t samples = 0,
                 first =
                     0;  // rows of its sample table; row of the frame's samples at which they begin
  };
  struct Sample {
    std::int32_t arm = 0, file = 0, prompt = 0;  // prompt: index into prompts()
    std::int32_t sample_index = 0;
    std::int32_t repeat = 0;  // of the same decode, in several files that were named: timings
    std::int64_t row = 0;     // in its file
    bool counts = true;       // false: a sample that another file of the same folder holds too
  };

  // Files, and folders whose traces (*.h5, also below) are taken. DataError when there is none, or
  // one is damaged.
  explicit Frame(const std::vector<std::string>& paths);

  // The same traces, of which only some samples count.
  Frame restricted(const std::vector<char>& keep) const;

  const std::vector<Arm>& arms() const { return arms_; }
  const std::vector<File>& files() const { return files_; }
  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<std::string>& prompts() const { return prompts_; }  // their ids
  std::string key(
      int arm, const std::string& key) const;   // value of a config key; "" where the arm has none
  std::vector<std::string> varying() const;     // config keys in which arms differ, sorted
  std::vector<std::string> scores() const;      // of the tasks, sorted
  std::vector<std::string> estimators() const;  // attached ones: step_expected_NAME, sorted

  // A column of the sample table ("sample_nfe_draft", "sample_score_rouge1"), aligned with
  // samples(); NaN where a file lacks a score, or is older than the column. So are steps and their
  // rows below.
  std::vector<double> numbers(const std::string& column) const;
  std::vector<std::string> texts(const std::string& column) const;

  bool has_vectors() const;  // whether some trace's tokens are vectors
  // The vector tokens of each sample, one after another in the order of positions; empty where
  // tokens are ids.
  std::vector<Eigen::VectorXd> vectors() const;

  // Steps, and rows of a table below them, of some whole samples of one file.
  struct Block {
    int file = 0;
    std::vector<std::int64_t> samples;           // rows of the frame's samples()
    std::int64_t first_step = 0, first_row = 0;  // rows in the file
    std::vector<std::int64_t> step_begin;  // of samples[i]: steps [step_begin[i], step_begin[i +
                                           // 1]), counted from first_step
    std::vector<std::int64_t>
        row_begin;  // of a step: rows of the lower table, counted from first_row; empty without one
    std::vector<std::vector<double>> steps, rows;  // the columns, in the order asked for
    std::int64_t step_count() const { return step_begin.back(); }
  };
  using Visit = std::function<void(const Block&)>;
  // Everything, block by block, a block of at most about a million rows (but at least one sample).
  void walk(const std::vector<std::string>& step_columns, const Visit& visit) const;
  void walk(const std::vector<std::string>& step_columns, Table lower,
            const std::vector<std::string>& lower_columns, const Visit& visit) const;

  std::shared_ptr<const Trace> open(
      int file) const;  // the whole trace, for whoever shows single samples

 private:
  std::vector<std::string> named(Table table) const;
  void add(const std::string& path, bool in_folder, std::map<std::string, int>& seen);
  std::vector<File> files_;
  std::vector<Arm> arms_;
  std::vector<Sample> samples_;
  std::vector<std::string> prompts_;
  std::map<std::string, int> arm_of_, prompt_of_;
  mutable std::map<int, std::shared_ptr<const Trace>> open_;
};

// The dotted keys of a config text; the sections of a resolved config are one key each line.
std::map<std::string, std::string> config_keys(const std::string& text);

}  // namespace draftlab
