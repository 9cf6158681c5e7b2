#include "analysis/frame/frame.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/trace/hdf5_columns.h"
#include "core/trace/trace_tables.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

// So many files are open at a time.
constexpr std::size_t kMostOpen = 200;
constexpr std::int64_t kBlockRows = 1 << 20;

// Says whether a column is one that runs name (scores, estimates) and that not every file has.
bool is_named(Table table, const std::string& column) {
  return !named_prefix(table).empty() && column.starts_with(named_prefix(table));
}

const ColumnInfo* declared(Table table, const std::string& column) {
  for (const ColumnInfo& c : info(table).columns)
    if (c.name == column) return &c;
  return nullptr;
}

// Says which column of the table was probably meant, or where such a column stands.
std::string column_hint(Table table, const std::string& column) {
  for (const Table other : trace_tables())
    if (declared(other, column))
      return "; it is a column of the table '" + std::string(name(other)) + "'";
  std::vector<std::string> known;
  for (const ColumnInfo& one : info(table).columns) known.push_back(one.name);
  std::string near = nearest(column, known);
  if (near.empty()) near = nearest(std::string(name(table)) + "_" + column, known);
  return near.empty() ? "; docs/TRACE_FORMAT.md has all columns" : "; did you mean '" + near + "'?";
}

ColumnInfo column_of(Table table, const std::string& column) {
  if (const ColumnInfo* found = declared(table, column)) return *found;
  if (is_named(table, column))
    return named_column(table, column.substr(named_prefix(table).size()));
  throw Fault("the table '{}' of a trace has no column '{}'{}", name(table), column,
              column_hint(table, column));
}

std::vector<ColumnInfo> columns_of(Table table, const std::vector<std::string>& names) {
  std::vector<ColumnInfo> columns;
  for (const std::string& name : names) columns.push_back(column_of(table, name));
  return columns;
}

std::vector<double> as_doubles(Values values) {
  if (auto* numbers = std::get_if<1>(&values)) return std::move(*numbers);
  const auto& integers = std::get<0>(values);
  return {integers.begin(), integers.end()};
}

// Some rows of a table, one behind the other.
struct StoredRows {
  Table table;
  std::int64_t first = 0, count = 0;
};

// Whether the source of an imported trace says a column, for all rows.
bool is_said(const ColumnReader& file, const std::string& column) {
  const std::string missing = " " + file.text("not_said").value_or("") + " ";
  return missing.find(" " + column + " ") == std::string::npos;
}

// A count that its source does not say. Fractions are NaN there in the file itself; ids and
// positions of tokens are no counts.
bool is_blank(const ColumnReader& file, Table table, const ColumnInfo& column) {
  const bool counts = table == Table::sample || table == Table::step;
  const bool whole = column.type != Type::float32 && column.type != Type::float64;
  return counts && whole && !is_said(file, column.name);
}

// Returns the numbers of a column. What an older file, a run that names other columns, or the
// source of an imported trace lacks was not measured.
std::vector<double> numbers_of(const ColumnReader& file, const ColumnInfo& column,
                               const StoredRows& rows) {
  const bool optional = column.since > 0 || is_named(rows.table, column.name);
  if ((optional && !file.has(column.name)) || is_blank(file, rows.table, column))
    return std::vector<double>(rows.count, kNotMeasured);
  return as_doubles(file.read(rows.table, column, rows.first, rows.count));
}

std::vector<std::int64_t> integers(const Trace& trace, const std::string& column,
                                   const StoredRows& rows) {
  return std::get<0>(
      trace.file().read(rows.table, column_of(rows.table, column), rows.first, rows.count));
}

// Returns the traces of a folder, by name; one that gathers the others (sweep.h5) comes first.
// Units of a run that goes on are traces as well.
std::vector<std::string> traces_below(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (entry->is_regular_file(error) && name.ends_with(".h5") && name != "curves.h5")
      paths.push_back(entry->path().string());
  }
  if (error) throw DataError("the folder '{}' cannot be read: {}", folder, error.message());
  if (paths.empty() && fs::exists(fs::path(folder) / "sweep.json", error))
    throw DataError("no cell of the sweep in '{0}' is done; draftlab sweep {0} goes on with it",
                    folder);
  if (paths.empty()) throw DataError("the folder '{}' holds no trace (*.h5)", folder);
  const auto gathers = [](const std::string& path) {
    return fs::path(path).filename() == "sweep.h5";
  };
  std::sort(paths.begin(), paths.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(!gathers(a), a) < std::pair(!gathers(b), b);
  });
  return paths;
}

// Returns a file of plugins as tables show it: "parts.py 0f3c59a1b2c3" of its path and its digest.
std::string short_plugin(const std::string& pinned) {
  const std::size_t digest = pinned.rfind(" sha256:");
  if (digest == std::string::npos) return pinned;
  return fs::path(pinned.substr(0, digest)).filename().string() + " " +
         pinned.substr(digest + 8, 12);
}

// Returns the settings of an arm. A file before version 1.7 has them as one text alone.
std::map<std::string, std::string> settings_of(const RunRow& run) {
  if (run.settings.empty()) return config_keys(run.config);
  std::map<std::string, std::string> settings;
  for (const SettingRow& setting : run.settings) settings[setting.key] = one_line(setting.value);
  return settings;
}

Frame::Arm arm_of(const RunRow& run, int file) {
  Frame::Arm arm{run, settings_of(run), file};
  for (std::string* const text : {&arm.run.arm, &arm.run.label}) *text = one_line(*text);
  for (AxisRow& axis : arm.run.axes) axis.value = one_line(axis.value);
  arm.config["arm"] = arm.run.label.empty() ? arm.run.arm : arm.run.label;
  arm.config["id"] = run.id;
  // Where a plugin lay is no matter; what was in it is.
  for (auto& [key, value] : arm.config)
    if (key.starts_with("plugins.")) value = short_plugin(value);
  arm.config["checkpoint"] = run.checkpoint;
  arm.config["model_family"] = run.model_family;
  return arm;
}

}  // namespace

std::map<std::string, std::string> config_keys(const std::string& text) {
  // A config that a trace holds was read before.
  Diagnostics ignored;
  std::map<std::string, std::string> keys;
  const Config config = Config::parse(text, "the trace's config", ignored);
  for (const Config::Entry* const entry : config.entries())
    keys[entry->key] = one_line(entry->value);
  return keys;
}

const std::string* Frame::Arm::find(const std::string& key) const {
  const auto found = config.find(key);
  return found == config.end() ? nullptr : &found->second;
}

Frame::Frame(const std::vector<std::string>& paths, ColumnReader::Trust trust) : trust_(trust) {
  // The decodes, and how often they were met in other arguments.
  std::map<std::string, int> seen;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      add_folder(path, seen);
    } else {
      add(path, false, seen);
    }
    // What a folder holds twice counts once; what is named again is a repeat.
    for (auto& [decode, times] : seen) times = std::abs(times);
  }
  if (samples_.empty())
    throw DataError("there is no finished sample in '{}'{}", paths.front(),
                    paths.size() > 1 ? " and the others" : "");
  find_varying();
}

// A cell that is done and was gathered is not read again: of 100,000 cells that takes more than ten
// minutes.
void Frame::add_folder(const std::string& folder, std::map<std::string, int>& seen) {
  std::set<std::string> gathered;
  for (const std::string& path : traces_below(folder)) {
    if (gathered.contains(path)) continue;
    const fs::path cells = fs::path(path).parent_path() / "cells";
    for (const CellRow& cell : manifest(*add(path, true, seen)))
      if (cell.status == "done") gathered.insert((cells / (cell.id + ".h5")).string());
  }
}

std::shared_ptr<const Trace> Frame::add(const std::string& path, bool in_folder,
                                        std::map<std::string, int>& seen) {
  const auto trace = std::make_shared<const Trace>(path, trust_);
  const int index = static_cast<int>(files_.size());
  if (open_.size() < kMostOpen) open_[index] = trace;
  File file{path,
            trace->provenance(),
            config_keys(trace->provenance().config),
            trace->drafts(),
            {},
            trace->file().has("cell"),
            trace->samples(),
            static_cast<std::int64_t>(samples_.size())};
  for (const RunRow& run : trace->runs()) {
    const std::string identity = (run.id.empty() ? run.arm + "\n" + run.config : run.id) + "\n" +
                                 run.checkpoint_digest + "\n" + run.data_digest;
    const auto [found, fresh] = arm_of_.emplace(identity, static_cast<int>(arms_.size()));
    if (fresh) arms_.push_back(arm_of(run, index));
    file.arms.push_back(found->second);
  }
  // All numbers of the samples are tried at once: later, with 100,000 arms in memory, a process
  // for each column would cost more than reading it.
  std::vector<ColumnInfo> tried = named_of(trace->file())[Table::sample];
  for (const ColumnInfo& column : info(Table::sample).columns)
    if (column.type != Type::text || column.name == "sample_prompt_id") tried.push_back(column);
  trace->file().probe(Table::sample, tried);
  const auto column = [&](const char* name) {
    return integers(*trace, name, {Table::sample, 0, file.samples});
  };
  const auto run = column("sample_run_index"), prompt = column("sample_prompt_index"),
             sample = column("sample_sample_index");
  const auto ids =
      std::get<2>(trace->file().read(Table::sample, column_of(Table::sample, "sample_prompt_id")));
  for (std::int64_t row = 0; row < file.samples; ++row) {
    if (run[row] < 0 || run[row] >= static_cast<std::int64_t>(file.arms.size()))
      trace->file().fail("has a sample of a run that it does not list");
    const std::string id = ids[row].empty() ? std::to_string(prompt[row]) : ids[row];
    const auto [at, fresh] = prompt_of_.emplace(id, static_cast<int>(prompts_.size()));
    if (fresh) prompts_.push_back(id);
    Sample s{file.arms[run[row]],
             index,
             at->second,
             static_cast<std::int32_t>(sample[row]),
             0,
             row,
             true};
    const std::string decode = std::to_string(s.arm) + "/" + std::to_string(s.prompt) + "/" +
                               std::to_string(s.sample_index);
    // A negative number says that the decode was met in this argument as well.
    int& times = seen[decode];
    if (times < 0 && in_folder) s.counts = false;
    s.repeat = std::abs(times);
    if (s.counts) times = -std::abs(times) - 1;
    samples_.push_back(s);
  }
  files_.push_back(std::move(file));
  return trace;
}

Frame Frame::restricted(const std::vector<char>& keep) const {
  Frame frame = *this;
  for (std::size_t i = 0; i < frame.samples_.size(); ++i)
    frame.samples_[i].counts = frame.samples_[i].counts && keep[i];
  return frame;
}

std::shared_ptr<const Trace> Frame::open(int file) const {
  const auto found = open_.find(file);
  return found != open_.end() ? found->second
                              : std::make_shared<const Trace>(files_[file].path, trust_);
}

std::string Frame::key(int arm, const std::string& key) const {
  const std::string* value = arms_[arm].find(key);
  return value ? *value : "";
}

void Frame::find_varying() {
  struct Seen {
    const std::string* first;
    std::size_t arms = 0;
    bool differs = false;
  };
  std::map<std::string_view, Seen> keys;
  for (const Arm& arm : arms_) {
    for (const auto& [key, value] : arm.config) {
      Seen& seen = keys.try_emplace(key, Seen{&value}).first->second;
      ++seen.arms;
      seen.differs = seen.differs || value != *seen.first;
    }
  }
  // An arm without the key differs from those that say something there.
  for (const auto& [key, seen] : keys)
    if (seen.differs || (seen.arms < arms_.size() && !seen.first->empty()))
      varying_.emplace_back(key);
  for (const char* name : {"arm", "id"}) std::erase(varying_, name);
}

std::vector<std::string> Frame::scores() const { return named(Table::sample); }

std::vector<std::string> Frame::estimators() const { return named(Table::step); }

std::vector<std::string> Frame::named(Table table) const {
  std::set<std::string> names;
  for (std::size_t file = 0; file < files_.size(); ++file) {
    for (const std::string& column : open(static_cast<int>(file))->file().names()) {
      if (is_named(table, column)) names.insert(column.substr(named_prefix(table).size()));
    }
  }
  return {names.begin(), names.end()};
}

std::vector<double> Frame::numbers(const std::string& name) const {
  const ColumnInfo column = column_of(Table::sample, name);
  std::vector<double> result;
  for (std::size_t file = 0; file < files_.size(); ++file) {
    const auto trace = open(static_cast<int>(file));
    const std::vector<double> part =
        numbers_of(trace->file(), column, {Table::sample, 0, files_[file].samples});
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

bool Frame::says(int file, const std::string& column) const {
  return is_said(open(file)->file(), column);
}

std::vector<std::string> Frame::texts(const std::string& name) const {
  std::vector<std::string> result;
  for (std::size_t file = 0; file < files_.size(); ++file) {
    auto part = std::get<2>(
        open(static_cast<int>(file))->file().read(Table::sample, column_of(Table::sample, name)));
    std::move(part.begin(), part.end(), std::back_inserter(result));
  }
  return result;
}

bool Frame::has_vectors() const { return !named(Table::token).empty(); }

std::vector<Eigen::VectorXd> Frame::vectors() const {
  std::vector<Eigen::VectorXd> values(samples_.size());
  const std::string prefix(named_prefix(Table::token));
  std::vector<std::string> columns{"token_position"};
  for (std::size_t i = 0; i < named(Table::token).size(); ++i)
    columns.push_back(prefix + std::to_string(i));
  if (columns.size() == 1) return values;
  walk({}, Table::token, columns, [&](const Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      std::map<double, std::int64_t> row_of;
      // The dimension of this file's tokens, which may have fewer coordinates than another's.
      std::int64_t dimension = 0;
      for (auto row = block.row_begin[block.step_begin[i]];
           row < block.row_begin[block.step_begin[i + 1]]; ++row) {
        std::int64_t known = 0;
        while (known + 1 < static_cast<std::int64_t>(columns.size()) &&
               !std::isnan(block.rows[static_cast<std::size_t>(known + 1)][row]))
          ++known;
        if (known == 0) continue;
        row_of[block.rows[0][row]] = row;
        dimension = known;
      }
      Eigen::VectorXd& vector = values[block.samples[i]];
      vector.resize(static_cast<Eigen::Index>(row_of.size()) * dimension);
      Eigen::Index at = 0;
      for (const auto& [position, row] : row_of)
        for (std::int64_t k = 0; k < dimension; ++k)
          vector[at++] = block.rows[static_cast<std::size_t>(k + 1)][row];
    }
  });
  return values;
}

void Frame::walk(const std::vector<std::string>& step_columns, const Visit& visit) const {
  walk(step_columns, Table::step, {}, visit);
}

void Frame::walk(const std::vector<std::string>& step_names, Table lower,
                 const std::vector<std::string>& lower_names, const Visit& visit) const {
  const std::vector<ColumnInfo> step_columns = columns_of(Table::step, step_names),
                                lower_columns = columns_of(lower, lower_names);
  const bool two = lower != Table::step;
  const std::string firsts = "step_first_" + std::string(name(lower)),
                    counts = "step_n_" + std::string(name(lower)) + "s";
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const auto trace = open(static_cast<int>(f));
    const ColumnReader& file = trace->file();
    std::vector<ColumnInfo> wanted = step_columns;
    if (two)
      wanted.insert(wanted.end(), {column_of(Table::step, firsts), column_of(Table::step, counts)});
    file.probe(Table::step, wanted);
    if (two) file.probe(lower, lower_columns);
    const StoredRows samples{Table::sample, 0, files_[f].samples};
    const auto first_step = integers(*trace, "sample_first_step", samples),
               n_steps = integers(*trace, "sample_n_steps", samples);
    const double widening = two && trace->rows(Table::step) > 0
                                ? std::max(1.0, static_cast<double>(trace->rows(lower)) /
                                                    static_cast<double>(trace->rows(Table::step)))
                                : 1;
    const auto most = static_cast<std::int64_t>(static_cast<double>(kBlockRows) / widening);
    for (std::int64_t begin = 0, end; begin < files_[f].samples; begin = end) {
      Block block;
      block.file = static_cast<int>(f);
      block.first_step = first_step[begin];
      block.step_begin = {0};
      for (end = begin;
           end < files_[f].samples && (end == begin || block.step_count() + n_steps[end] <= most);
           ++end) {
        block.samples.push_back(files_[f].first + end);
        block.step_begin.push_back(block.step_count() + n_steps[end]);
      }
      const StoredRows steps{Table::step, block.first_step, block.step_count()};
      for (const ColumnInfo& column : step_columns)
        block.steps.push_back(numbers_of(file, column, steps));
      if (two) {
        const auto from = integers(*trace, firsts, steps), many = integers(*trace, counts, steps);
        block.first_row = from.empty() ? 0 : from.front();
        block.row_begin = {0};
        for (std::size_t step = 0; step < many.size(); ++step) {
          const bool follows =
              from[step] == block.first_row + block.row_begin.back() && many[step] >= 0;
          if (!follows)
            file.fail("has rows of '" + std::string(name(lower)) +
                      "' that do not lie one after the other");
          block.row_begin.push_back(block.row_begin.back() + many[step]);
        }
        for (const ColumnInfo& column : lower_columns)
          block.rows.push_back(
              numbers_of(file, column, {lower, block.first_row, block.row_begin.back()}));
      }
      visit(block);
    }
  }
}

}  // namespace draftlab
