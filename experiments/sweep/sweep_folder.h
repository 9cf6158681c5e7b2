// The folder of a sweep: its frozen config, plugins and digests, and a trace, a log and the
// attempts of every cell.
//
//   DIR/config.ini      the config, includes and overrides resolved; it can be run as it stands
//   DIR/sweep.json      where and with what it was frozen: folder, program, digests of checkpoints
//                       and data
//   DIR/cells.json      the list of its cells: id, labels, and which samples are wanted
//   DIR/plugins/        copies of the libraries and Python files, which [plugins] of the config
//                       names with their digests
//   DIR/cells/ID.h5     the trace of a finished cell (ID.h5.units/ while it is decoded)
//   DIR/attempts/ID.N   who began a cell, and what became of it (claims.h)
//   DIR/logs/ID.log     what decoding it said
//   DIR/sweep.h5        all cells, gathered
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config/composition.h"
#include "experiments/sweep/claims.h"

namespace draftlab {

// What a cell reads. It is known before any model is loaded.
struct Inputs {
  std::string checkpoint, checkpoint_digest, data_digest, tokenizer_digest;
  // The number of prompts of the task.
  std::int64_t prompts = 0;
};

struct SweepCell {
  Cell cell;
  // The id of config, checkpoint and data, which names the cell's files.
  std::string id;
  // Cells of equal models are decoded one after the other.
  std::string model;
  Inputs inputs;
  // What is wanted: this many prompts from `first`, and so many repeats of each.
  std::int64_t first = 0, prompts = 0, samples = 0;
  std::int64_t wanted() const { return prompts * samples; }
};

// The state of a cell.
enum class Standing { missing, running, failed, quarantined, done };

class SweepFolder {
 public:
  // Freezes a config into `path`, in place of what was frozen there before. Finished cells stay.
  // Files of plugins are copied, and the frozen config names the copies.
  static SweepFolder freeze(const std::string& path, Config config, const Registries& registries);
  // Opens what was frozen. It moves to the working folder in which the config was frozen, so that
  // its paths lead where they led. Throws UsageError when `path` is not the folder of a sweep.
  static SweepFolder open(const std::string& path, const Registries& registries);
  // Opens the list of cells alone, whose configs are empty: enough to say what became of them and
  // to merge them, and nothing that the folder names is loaded or composed.
  static SweepFolder open_list(const std::string& path);
  static bool is_one(const std::string& path);
  // Says whether a sweep is there already, or nothing but what an interrupted beginning left.
  static bool may_begin(const std::string& path);
  // Returns the plugins that were frozen.
  static std::vector<NamedPlugin> plugins(const std::string& path);

  // The absolute path.
  const std::string& path() const { return path_; }
  const Config& config() const { return config_; }
  const std::vector<SweepCell>& cells() const { return cells_; }
  std::string trace(const SweepCell& cell) const { return path_ + "/cells/" + cell.id + ".h5"; }
  std::string log(const SweepCell& cell) const { return path_ + "/logs/" + cell.id + ".log"; }
  std::string attempts() const { return path_ + "/attempts"; }
  std::string result() const { return path_ + "/sweep.h5"; }
  // Returns the state of a cell, which is done when its last attempt says so and its trace is
  // there.
  Standing standing(const SweepCell& cell, const Attempts& attempts, const Claims& claims) const;
  // Renames traces that are not what was written, so that their cells are decoded again. Returns
  // how many there were.
  std::size_t set_aside_damaged() const;
  // Removes what an earlier config decoded: what this one does not name, or all of it.
  void remove_cells(bool all) const;
  bool cancelled() const;
  void cancel(bool cancelled) const;

  // The seconds until a lease expires. They stand in sweep.json, so that all processes agree.
  double lease() const { return lease_; }
  // The estimate; 0 when there is none.
  double estimated_core_hours() const { return estimate_; }
  void remember_estimate(double core_hours);
  // The seconds after which a sample that has not ended fails its cell; 0: no limit.
  double sample_seconds() const { return sample_seconds_; }
  void remember_sample_seconds(double seconds);

 private:
  static void name_copies(Config& config, const Registries& registries);
  void load(const Registries& registries);
  SweepCell read_by(const Composition& arm);
  // Opens sweep.json and config.ini.
  void open_files(const std::string& path);
  void save() const;
  void save_list() const;
  // Says whether there is a list, and of this config.
  bool has_list() const;
  std::string path_, home_;
  Config config_;
  // The inputs by what names them in a config.
  std::map<std::string, Inputs> inputs_;
  std::vector<SweepCell> cells_;
  double lease_ = 300, estimate_ = 0, sample_seconds_ = 0;
};

std::string_view name(Standing);

// Writes the config as text that reads back to the same cells.
std::string to_text(const Config& config);

}  // namespace draftlab
