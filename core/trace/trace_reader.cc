#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/trace/hdf5_columns.h"
#include "core/trace/trace_file.h"
#include "core/trace/trace_tables.h"

namespace draftlab {
namespace {

// Returns the likeliest tokens of a draft, by rank, from its named columns. Columns that a foreign
// writer may have named alike are passed over.
std::vector<std::pair<Token, double>> top_of(
    const std::vector<std::pair<std::string, double>>& named) {
  std::vector<std::pair<Token, double>> top;
  for (const auto& [name, value] : named) {
    const std::size_t digits = name.starts_with("id") ? 2 : name.starts_with("p") ? 1 : name.size();
    const int rank = std::atoi(name.c_str() + digits);
    if (rank < 1 || rank > 64) continue;
    if (static_cast<int>(top.size()) < rank)
      top.resize(static_cast<std::size_t>(rank), {kNoToken, kNotMeasured});
    if (digits == 2)
      top[static_cast<std::size_t>(rank - 1)].first =
          static_cast<Token>(std::clamp(value, -1.0, 1e9));
    else
      top[static_cast<std::size_t>(rank - 1)].second = value;
  }
  return top;
}

// Returns the coordinates of a vector token from its named columns.
Eigen::VectorXd value_of(const std::vector<std::pair<std::string, double>>& named) {
  Eigen::VectorXd value(static_cast<Eigen::Index>(named.size()));
  for (const auto& [name, x] : named) {
    const int at = std::atoi(name.c_str());
    // A foreign writer made these columns.
    if (at < 0 || at >= value.size()) return {};
    value[at] = x;
  }
  return value;
}

}  // namespace

std::vector<CellRow> manifest(const Trace& trace) {
  if (!trace.file().has(std::string(name(Table::cell)))) return {};
  const std::int64_t count = trace.rows(Table::cell);
  const Columns stored = trace.columns(Table::cell, 0, count);
  std::vector<CellRow> rows(count);
  for (std::int64_t i = 0; i < count; ++i) stored.get(i, rows[i]);
  return rows;
}

Trace::Trace(const std::string& path, ColumnReader::Trust trust)
    : file_(std::make_unique<ColumnReader>(path, trust)) {
  check_root(*file_);
  provenance_ = file_->provenance();
  provenance_.plugins = plugins_of(*file_);
  drafts_ = file_->text("drafts").value_or("");
  named_ = named_of(*file_);
  for (Table table : trace_tables()) file_->rows(table);
  file_->probe(Table::run, info(Table::run).columns);
  runs_ = runs_of(*file_);
  first_step_ = integers(*file_, Table::sample, "sample_first_step");
  n_steps_ = integers(*file_, Table::sample, "sample_n_steps");
  check_ragged(*file_, "step", {first_step_, n_steps_, 0, rows(Table::step)});
}

Trace::~Trace() = default;

const std::string& Trace::path() const { return file_->path(); }

GivenRows Trace::given() const { return given_of(*file_); }

std::int64_t Trace::rows(Table table) const { return file_->rows(table); }

Columns Trace::columns(Table table, std::int64_t first, std::int64_t count) const {
  return load(*file_, table, named_, {first, count});
}

std::vector<SampleRow> Trace::read(std::int64_t first, std::int64_t count, bool with_steps) const {
  std::vector<SampleRow> result(count);
  const Columns samples = columns(Table::sample, first, count);
  for (std::int64_t i = 0; i < count; ++i) {
    samples.get(i, result[i]);
    result[i].scores = samples.named(i);
    result[i].iterations = n_steps_[first + i];
    if (result[i].run < 0 || result[i].run >= static_cast<std::int32_t>(runs_.size()))
      file_->fail("has a sample of a run that it does not list");
  }
  if (!with_steps || count == 0) return result;

  // All rows of a block of samples lie together in every table.
  const std::int64_t first_step = first_step_[first],
                     end_step = first_step_[first + count - 1] + n_steps_[first + count - 1];
  const Columns steps = columns(Table::step, first_step, end_step - first_step);
  auto children = [&](Table table, const char* firsts, const char* counts, std::int64_t& begin) {
    const auto &from = steps.integers(firsts), &many = steps.integers(counts);
    begin = from.empty() ? 0 : from.front();
    if (begin < 0 || begin > rows(table))
      file_->fail("has rows of '" + std::string(name(table)) +
                  "' that do not lie one after the other");
    check_ragged(*file_, std::string(name(table)), {from, many, begin, rows(table)});
    return columns(table, begin, from.empty() ? 0 : from.back() + many.back() - begin);
  };
  std::int64_t first_token = 0, first_draft = 0;
  const Columns tokens = children(Table::token, "step_first_token", "step_n_tokens", first_token);
  const Columns drafts = children(Table::draft, "step_first_draft", "step_n_drafts", first_draft);
  const auto &n_tokens = steps.integers("step_n_tokens"),
             &n_drafts = steps.integers("step_n_drafts");
  std::int64_t at_token = 0, at_draft = 0, at_step = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    result[i].steps.resize(n_steps_[first + i]);
    for (StepRow& step : result[i].steps) {
      steps.get(at_step, step);
      step.estimates = steps.named(at_step);
      step.tokens.resize(n_tokens[at_step]);
      step.drafts.resize(n_drafts[at_step]);
      for (TokenRow& token : step.tokens) {
        tokens.get(at_token, token);
        token.value = value_of(tokens.named(at_token++));
      }
      for (DraftRow& draft : step.drafts) {
        drafts.get(at_draft, draft);
        draft.top = top_of(drafts.named(at_draft++));
      }
      ++at_step;
    }
  }
  return result;
}

SampleRow Trace::sample(std::int64_t index) const {
  if (index < 0 || index >= samples()) {
    file_->fail("has samples 0 to " + std::to_string(samples() - 1) + ", and sample " +
                std::to_string(index) + " was asked for");
  }
  return std::move(read(index, 1).front());
}

}  // namespace draftlab
