#include "core/trace/trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/trace/hdf5_columns.h"
#include "core/trace/provenance.h"
#include "core/trace/trace_merge.h"
#include "core/trace/trace_tables.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr int kUnitLevel = 1, kMergedLevel = 2;  // The gzip levels of units and of the merged file.

// What the root of a trace says of the rows in it.
struct Recorded {
  std::string drafts;
  bool prompts = false;
};

void write_root_of(ColumnWriter& file, const TraceHead& head, const Recorded& recorded) {
  Provenance provenance = head.provenance;
  if (provenance.ended.empty()) provenance.ended = utc_now();
  file.root(kTraceMagic, trace_tables(), provenance);
  file.attribute("comment", std::string("contiguous ragged arrays: rows [first, first + n) of a "
                                        "table belong to one row of its parent"));
  file.attribute("drafts", recorded.drafts);
  file.attribute("prompts", std::string(recorded.prompts ? kAllPrompts : "none"));
  Columns table(Table::run), settings(Table::setting), axes(Table::axis);
  for (RunRow run : head.runs) {
    const auto index = static_cast<std::int32_t>(table.rows());
    table.add(run, {});
    for (SettingRow& setting : run.settings) setting.run = index, settings.add(setting, {});
    for (AxisRow& axis : run.axes) axis.run = index, axes.add(axis, {});
  }
  for (const Columns* const columns : {&table, &settings, &axes}) file.columns(*columns);
  Columns plugins(Table::plugin);
  for (PluginRow plugin : provenance.plugins) plugins.add(plugin, {});
  file.columns(plugins);
}

// Returns a name that no other writer on any machine has at this time.
std::string writer_name() {
  return host_name().substr(0, 63) + "-" + std::to_string(::getpid()) + "-" +
         std::to_string(std::chrono::system_clock::now().time_since_epoch().count() % 1000000007);
}

bool is_unit(const std::string& name) { return name.starts_with("unit-") && name.ends_with(".h5"); }

// Reads the text of a resolved config: the value of each key, its section before it.
std::map<std::string, std::string> values_of(const std::string& config) {
  std::map<std::string, std::string> values;
  std::string section;
  for (const std::string& line : all_lines(config)) {
    const std::size_t equals = line.find(" =");
    if (line.starts_with("["))
      section = line.substr(1, line.find(']') - 1) + ".";
    else if (equals != std::string::npos)
      values[section + line.substr(0, equals)] = line.substr(std::min(equals + 3, line.size()));
  }
  return values;
}

// What a trace that is to be continued and this config say differently.
struct Difference {
  std::string what, there, here;
};

[[noreturn]] void refuse(const ColumnReader& file, const Difference& difference) {
  throw ConfigError(
      "'{}' cannot be continued: its {} is '{}' and that of this config is '{}'; name another "
      "file with --out",
      file.path(), difference.what, difference.there, difference.here);
}

// Says whether a key is spelled differently in two runs and means the same: the path of a
// checkpoint or of a task's file that was moved, or is named from another folder. Their digests,
// which adopt() compares, say that the contents are the same.
bool is_moved(const RunRow& there, const RunRow& here, const Difference& difference) {
  const auto& [key, was, is] = difference;
  if (!here.checkpoint.empty() && !here.checkpoint_digest.empty() && was == there.checkpoint &&
      is == here.checkpoint)
    return true;
  return key.starts_with("task.") && !here.data_digest.empty() && !was.empty() &&
         (was + is).find('/') != std::string::npos &&
         fs::path(was).filename() == fs::path(is).filename();
}

// Returns the first key that differs between two runs, and both its values; or "run", and their
// ids. Nothing, where the runs differ in where their files are, and in no other key.
std::optional<Difference> different_key(const RunRow& there, const RunRow& here) {
  if (there.id == here.id) return {};
  auto was = values_of(there.config), is = values_of(here.config), both = was;
  both.insert(is.begin(), is.end());
  bool moved = false;
  for (const auto& [key, value] : both) {
    if (was.count(key) == is.count(key) && was[key] == is[key]) continue;
    const Difference difference{key, was[key], is[key]};
    if (!is_moved(there, here, difference)) return difference;
    moved = true;
  }
  if (moved) return {};
  return Difference{"run", there.id, here.id};
}

}  // namespace

TraceWriter::TraceWriter(std::string path, TraceHead head, const TraceOptions& options, bool resume)
    : path_(std::move(path)),
      folder_(path_ + ".units"),
      head_(std::move(head)),
      drafts_(options.drafts),
      prompts_(options.prompts),
      unit_tokens_(options.unit_tokens),
      unit_seconds_(options.unit_seconds),
      rolled_(std::chrono::steady_clock::now()),
      writer_(writer_name()) {
  std::error_code error;
  if (fs::is_directory(path_, error))
    throw OutputError("'{}' is a folder; name a file with --out", path_);
  const bool written = fs::exists(path_, error);
  if (written && !resume)
    throw OutputError("'{}' exists; continue it with --resume or name another file with --out",
                      path_);
  make_folder(folder_of(path_));
  make_folder(folder_);
  lock_ = ::open((folder_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) throw OutputError("cannot write into '{}': {}", folder_, std::strerror(errno));
  try {
    open_folder(resume, written);
  } catch (...) {
    leave_folder();
    throw;
  }
}

// Takes the lock, and what earlier processes left.
void TraceWriter::open_folder(bool resume, bool written) {
  // Some mounts of Lustre and NFS have no locks; there the names of the units keep writers apart.
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw OutputError("another process is writing '{}'", path_);
  remove_leftovers(folder_);
  const std::vector<std::string> there = units();
  if (!there.empty() && !resume) {
    throw OutputError(
        "'{}' holds samples of a run that did not end; continue it with --resume, name another "
        "file with --out, or remove the folder",
        folder_);
  }
  if (written) adopt(path_, ColumnReader::Trust::foreign);
  for (const std::string& unit : there) {
    try {
      adopt(unit, ColumnReader::Trust::foreign);
    } catch (const DataError& damage) {
      std::cerr << damage.what() << "; its samples are decoded again\n";
      std::error_code error;
      fs::rename(unit, unit + std::string(kDamaged), error);
    }
    next_unit_ =
        std::max(next_unit_, std::atoi(fs::path(unit).filename().string().c_str() + 5) + 1);
  }
}

TraceWriter::~TraceWriter() {
  if (!closed_) {
    try {
      flush();
    } catch (const std::exception&) {
      // The error was reported when it happened first.
    }
  }
  leave_folder();
}

std::vector<std::string> TraceWriter::units() const {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error))
    if (is_unit(entry.path().filename().string())) found.push_back(entry.path().string());
  if (error) throw OutputError("cannot read '{}': {}", folder_, error.message());
  std::sort(found.begin(), found.end());
  return found;
}

void TraceWriter::write_as_copy() { writer_ = writer_name(); }

void TraceWriter::take_from_copies() {
  for (const std::string& unit : units())
    if (std::find(sources_.begin(), sources_.end(), unit) == sources_.end())
      adopt(unit, ColumnReader::Trust::own);
}

// Removes the folder when only the lock, others' leftovers, and damaged units are left in it.
void TraceWriter::leave_folder() {
  if (lock_ < 0) return;
  bool empty = true;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    empty = empty && (name == "lock" || name.ends_with(kPartial) || name.ends_with(kDamaged));
  }
  const bool ours = ::flock(lock_, LOCK_EX | LOCK_NB) == 0;
  if (empty && ours) fs::remove_all(folder_, error);
  ::close(lock_);
  lock_ = -1;
}

void TraceWriter::adopt(const std::string& path, ColumnReader::Trust trust) {
  const ColumnReader file(path, trust);
  check_root(file);
  check_runs(file);
  check_recorded(file);
  const auto prompt = integers(file, Table::sample, "sample_prompt_index"),
             repeat = integers(file, Table::sample, "sample_sample_index"),
             run = integers(file, Table::sample, "sample_run_index");
  for (std::size_t i = 0; i < run.size(); ++i) {
    done_.insert({static_cast<std::int32_t>(prompt[i]), static_cast<std::int32_t>(repeat[i]),
                  static_cast<std::int32_t>(run[i])});
  }
  take_provenance(file);
  sources_.push_back(path);
}

// Refuses a trace of other runs.
void TraceWriter::check_runs(const ColumnReader& file) const {
  const std::vector<RunRow> stored = runs_of(file);
  if (stored.size() != head_.runs.size()) {
    std::vector<std::string> there, here;
    for (const RunRow& run : stored) there.push_back(run.arm);
    for (const RunRow& run : head_.runs) here.push_back(run.arm);
    refuse(file, {"list of arms", joined(there), joined(here)});
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const RunRow &run = stored[i], &now = head_.runs[i];
    if (const auto key = different_key(run, now)) refuse(file, *key);
    if (run.checkpoint_digest != now.checkpoint_digest)
      refuse(file, {"checkpoint's digest", run.checkpoint_digest, now.checkpoint_digest});
    if (run.data_digest != now.data_digest)
      refuse(file, {"data's digest", run.data_digest, now.data_digest});
    // Traces before 1.8 do not say it.
    if (!run.tokenizer_digest.empty() && run.tokenizer_digest != now.tokenizer_digest)
      refuse(file, {"tokenizer's digest", run.tokenizer_digest, now.tokenizer_digest});
    // Those of attached estimators are no part of the id, and write columns all the same.
    if (run.plugins != now.plugins)
      refuse(file, {"list of digests of plugins", run.plugins, now.plugins});
  }
}

// Refuses a trace that records other things of its samples. Whether it lacks prompts is
// remembered, because it matters only where prompts are to be recorded.
void TraceWriter::check_recorded(const ColumnReader& file) {
  const bool has_prompts = file.text("prompts") == kAllPrompts;
  if (has_prompts && !prompts_) refuse(file, {"trace.prompts", "true", "false"});
  if (!has_prompts && without_prompts_.empty()) without_prompts_ = file.path();
  const std::string drafts = file.text("drafts").value_or("");
  if (drafts != word(drafts_)) refuse(file, {"trace.drafts", drafts, std::string(word(drafts_))});
}

// Notes when the trace was begun, and the other processors that samples of it were decoded on.
void TraceWriter::take_provenance(const ColumnReader& file) {
  Provenance& ours = head_.provenance;
  const std::string started = file.text("started").value_or("");
  if (!started.empty() && (ours.started.empty() || started < ours.started)) ours.started = started;
  // Other processors have other kernels, and other roundings.
  const std::string cpu = file.text("cpu").value_or("");
  if (cpu.empty() || ours.cpu.find(cpu) != std::string::npos) return;
  const std::string sentence = "'" + file.path() + "' was begun on another processor, " + cpu +
                               ", and goes on on " + ours.cpu +
                               ": tokens of f32 models stay the same, those of bf16 ones may not";
  std::cerr << sentence << "\n";
  log(LogLevel::warning, sentence);
  ours.cpu += "; " + cpu;
}

void TraceWriter::sample(SampleRow row) {
  const auto sample_row = samples_.rows();
  const auto first_step = steps_.rows();
  add_steps(row.steps, sample_row);
  samples_.add(row, {first_step, steps_.rows() - first_step});
  for (const auto& [name, value] : row.scores) samples_.named(name, sample_row, value);
  if (spell_) note_tokens(row);
  const Key key{row.prompt_index, row.sample_index, row.run};
  in_order_ = in_order_ && (buffered_.empty() || *buffered_.rbegin() < key);
  buffered_.insert(key);
  if (is_due()) flush();
}

void TraceWriter::add_steps(std::vector<StepRow>& steps, std::int64_t sample_row) {
  const std::int64_t first_step = steps_.rows();
  std::vector<std::int64_t> links;
  links.reserve(5 * steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::int64_t step_row = first_step + static_cast<std::int64_t>(s);
    const RowRange tokens = add_tokens(steps[s], step_row);
    const RowRange drafts = add_drafts(steps[s], step_row);
    links.insert(links.end(), {sample_row, tokens.first, tokens.count, drafts.first, drafts.count});
  }
  steps_.add_all(steps, links);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const auto& [name, value] : steps[s].estimates)
      steps_.named(name, first_step + static_cast<std::int64_t>(s), value);
  }
}

TraceWriter::RowRange TraceWriter::add_tokens(const StepRow& step, std::int64_t step_row) {
  const std::int64_t first = tokens_.rows();
  parents_.assign(step.tokens.size(), step_row);
  tokens_.add_all(step.tokens, parents_);
  for (std::size_t t = 0; t < step.tokens.size(); ++t) {
    const Eigen::VectorXd& value = step.tokens[t].value;
    for (Eigen::Index i = 0; i < value.size(); ++i)
      tokens_.named(std::to_string(i), first + static_cast<std::int64_t>(t), value[i]);
  }
  return {first, tokens_.rows() - first};
}

TraceWriter::RowRange TraceWriter::add_drafts(StepRow& step, std::int64_t step_row) {
  const std::int64_t first = drafted_.rows();
  if (drafts_ == RecordedDrafts::none) return {first, 0};
  if (drafts_ == RecordedDrafts::span)
    std::erase_if(step.drafts, [&](const DraftRow& draft) { return draft.depth >= step.span; });
  parents_.assign(step.drafts.size(), step_row);
  drafted_.add_all(step.drafts, parents_);
  for (std::size_t d = 0; d < step.drafts.size(); ++d) {
    const std::int64_t row = first + static_cast<std::int64_t>(d);
    const std::vector<std::pair<Token, double>>& top = step.drafts[d].top;
    for (std::size_t rank = 0; rank < top.size(); ++rank) {
      drafted_.named("id" + std::to_string(rank + 1), row, top[rank].first);
      drafted_.named("p" + std::to_string(rank + 1), row, top[rank].second);
    }
  }
  return {first, drafted_.rows() - first};
}

// Notes which tokens are to be spelled.
void TraceWriter::note_tokens(const SampleRow& row) {
  std::vector<bool>& occurs = occurring_[speller_of(row.run)];
  const auto note = [&](Token token) {
    if (token < 0) return;
    if (static_cast<std::size_t>(token) >= occurs.size())
      occurs.resize(static_cast<std::size_t>(token) + 1);
    occurs[static_cast<std::size_t>(token)] = true;
  };
  for (const StepRow& step : row.steps) {
    for (const TokenRow& token : step.tokens) note(token.token);
    for (const DraftRow& draft : step.drafts) note(draft.token);
  }
}

// Says whether what is buffered is a unit. The first units come sooner (after 1, 2, 4, ...
// seconds), so that a run which is killed early has kept something.
bool TraceWriter::is_due() const {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - rolled_;
  const double wait = std::min(unit_seconds_, std::ldexp(1.0, next_unit_));
  return std::max(tokens_.rows(), steps_.rows()) >= unit_tokens_ || since.count() >= wait;
}

void TraceWriter::take_prompts_from(std::function<Prompt(int run, int prompt)> prompt_of) {
  if (!prompts_) return;
  if (!without_prompts_.empty())
    throw ConfigError(
        "'{}' cannot be continued: it does not hold the tokens of its prompts; set trace.prompts = "
        "false, or name another file with --out",
        without_prompts_);
  prompt_of_ = std::move(prompt_of);
}

std::int32_t TraceWriter::speller_of(std::int32_t run) const {
  const std::vector<RunRow>& runs = head_.runs;
  const auto shares = [&](const RunRow& other) { return other.checkpoint == runs[run].checkpoint; };
  return static_cast<std::int32_t>(std::find_if(runs.begin(), runs.end(), shares) - runs.begin());
}

std::vector<std::byte> TraceWriter::image(int level, Portion portion) const {
  ColumnWriter writer(level, portion);
  write_root(writer);
  for (const Columns* table : {&samples_, &steps_, &tokens_, &drafted_}) writer.columns(*table);
  Columns pieces(Table::piece);
  for (const auto& [run, occurs] : occurring_) {
    for (std::size_t token = 0; token < occurs.size(); ++token) {
      if (!occurs[token]) continue;
      PieceRow piece{run, static_cast<Token>(token), spell_(run, static_cast<Token>(token))};
      if (!piece.text.empty()) pieces.add(piece, {});
    }
  }
  writer.columns(pieces);
  writer.columns(given());
  return writer.image();
}

Columns TraceWriter::given() const {
  Columns rows(Table::given);
  if (!prompt_of_) return rows;
  std::map<PromptKey, std::int32_t> needed;
  for (const auto& [prompt, repeat, run] : buffered_)
    needed.emplace(PromptKey{first_with_prompts(head_.runs, run), prompt}, run);
  for (const auto& [key, run] : needed)
    for (GivenRow& row : given_rows(key, prompt_of_(run, key.second))) rows.add(row, {});
  return rows;
}

void TraceWriter::write_root(ColumnWriter& file) const {
  write_root_of(file, head_, {std::string(word(drafts_)), static_cast<bool>(prompt_of_)});
}

void TraceWriter::flush() {
  rolled_ = std::chrono::steady_clock::now();
  if (samples_.rows() == 0) return;
  char number[32];
  std::snprintf(number, sizeof number, "/unit-%06d-", next_unit_);
  const std::string file = folder_ + number + writer_ + ".h5";
  write_whole(file, image(kUnitLevel, Portion::part));
  sources_.push_back(file);
  ++next_unit_;
  done_.merge(buffered_);
  buffered_.clear();
  for (Columns* table : {&samples_, &steps_, &tokens_, &drafted_}) table->clear();
  occurring_.clear();
}

void TraceWriter::close() {
  if (const auto rest = closing()) rest();
}

std::function<void()> TraceWriter::closing() {
  // What was never split into units needs no merge.
  if (sources_.empty() && in_order_) {
    return [this, bytes = image(kMergedLevel, head_.portion)] {
      write_whole(path_, bytes);
      closed_ = true;
      leave_folder();
    };
  }
  flush();
  const bool unchanged = sources_.size() == 1 && sources_.front() == path_;
  if (!unchanged) {
    std::vector<Merge::Source> sources;
    for (const std::string& source : sources_) sources.push_back({.path = source});
    Merge merge(std::move(sources));
    merge.plan();
    ColumnWriter file(kMergedLevel, head_.portion);
    write_root(file);
    merge.write(file);
    file.save(path_);
  }
  closed_ = true;
  std::error_code error;
  for (const std::string& source : sources_) {
    if (source != path_) fs::remove(source, error);
  }
  leave_folder();
  return {};
}

void gather(const std::string& path, Provenance provenance, const std::vector<GatheredTrace>& cells,
            std::vector<CellRow> rows) {
  std::vector<Merge::Source> sources;
  for (const GatheredTrace& cell : cells)
    sources.push_back(
        {.path = cell.path, .first = cell.first, .prompts = cell.prompts, .samples = cell.samples});
  std::vector<RunRow> runs;
  std::map<std::string, PluginRow> plugins;
  std::string drafts;
  bool prompts = true;
  Merge merge(std::move(sources));
  merge.plan([&](const ColumnReader& file, Merge::Source& source) {
    check_root(file);
    std::vector<RunRow> stored = runs_of(file);
    if (stored.size() != 1)
      file.fail("is no cell's trace: it has " + std::to_string(stored.size()) + " runs");
    for (const PluginRow& plugin : plugins_of(file)) plugins.emplace(plugin.digest, plugin);
    RunRow run = std::move(stored.front());
    const GatheredTrace& cell = cells[runs.size()];
    if (!cell.arm.empty()) run.arm = cell.arm, run.label = cell.label, run.axes = cell.axes;
    const std::string recorded = file.text("drafts").value_or("");
    if (!drafts.empty() && recorded != drafts)
      file.fail("records '" + recorded + "' of the drafts and other cells record '" + drafts +
                "'; give trace.drafts one value");
    drafts = recorded;
    prompts = prompts && file.text("prompts") == kAllPrompts;
    source.run = static_cast<std::int64_t>(runs.size());
    source.speller = static_cast<std::int32_t>(
        std::find_if(runs.begin(), runs.end(),
                     [&](const RunRow& other) { return other.checkpoint == run.checkpoint; }) -
        runs.begin());
    runs.push_back(std::move(run));
    source.prompter = first_with_prompts(runs, static_cast<std::int32_t>(source.run));
  });
  std::vector<std::int64_t> samples(runs.size(), 0);
  for (const std::int64_t run : merge.runs) ++samples[run];
  for (CellRow& row : rows) row.samples = row.run < 0 ? 0 : samples.at(row.run);
  provenance.plugins.clear();
  for (const auto& [digest, plugin] : plugins) provenance.plugins.push_back(plugin);
  ColumnWriter file(kMergedLevel);
  write_root_of(file, {provenance, runs}, {drafts.empty() ? "all" : drafts, prompts});
  merge.write(file);
  Columns table(Table::cell);
  for (CellRow& row : rows) table.add(row, {});
  file.columns(table);
  file.save(path);
}

}  // namespace draftlab
