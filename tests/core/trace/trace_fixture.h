// Samples made from a counter, so that two runs of a test write the same contents; and comparison
// of contents.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "core/base/files.h"
#include "core/base/process.h"
#include "core/config/composition.h"
#include "core/trace/hdf5_columns.h"
#include "core/trace/trace_file.h"

namespace draftlab {

// A folder of its own that is gone afterwards.
struct TraceFolder {
  std::string path;
  explicit TraceFolder(const std::string& name)
      : path((std::filesystem::temp_directory_path() /
              ("draftlab-" + name + "-" + std::to_string(::getpid())))
                 .string()) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TraceFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

// What a process that is gone called itself.
inline std::string tag_of_the_dead() {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string tag = process_tag();
    ::_exit(::write(ends[1], tag.data(), tag.size()) < 0);
  }
  ::close(ends[1]);
  char tag[256];
  const ssize_t got = ::read(ends[0], tag, sizeof tag);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return {tag, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

inline std::vector<RunRow> made_runs() {
  std::vector<RunRow> runs(2);
  runs[0].id = "aaaaaaaaaaaa", runs[1].id = "bbbbbbbbbbbb";
  runs[0].arm = "drafter=stepwise", runs[1].arm = "drafter=self";
  runs[0].axes = {{0, "drafter", "stepwise"}}, runs[1].axes = {{1, "drafter", "self"}};
  runs[0].config = "drafter = stepwise\n", runs[1].config = "drafter = self\n";
  for (RunRow& run : runs) run.model_family = "table", run.data_digest = "d1";
  return runs;
}

// Every number is a multiple of 1/1024, so that 32 bits and 12 bits of mantissa hold it exactly.
// Consistent in all that check-trace asks for.
inline SampleRow made_sample(int run, int prompt, int repeat, int steps = 4) {
  std::uint64_t state = stable_hash("sample " + std::to_string(run) + " " + std::to_string(prompt) +
                                    " " + std::to_string(repeat));
  auto next = [&](int below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % static_cast<unsigned>(below));
  };
  auto share = [&] { return next(1025) / 1024.0; };
  SampleRow row;
  row.run = run, row.prompt_index = prompt, row.sample_index = repeat;
  row.prompt_id = "prompt-" + std::to_string(prompt);
  row.text = "sch\xC3\xB6n " + std::to_string(next(1000));
  row.status = "done";
  row.prompt_tokens = 3;
  std::int32_t position = 3;
  for (int s = 0; s < steps; ++s) {
    StepRow step;
    step.step = s;
    step.drafted = step.span = 3;
    step.exact = 1;
    step.verified = 1;
    step.committed = 1 + next(3);
    step.accepted = step.committed - 1;
    step.stop = static_cast<std::int32_t>(step.committed == 3 ? Stop::complete : Stop::wrong_token);
    step.counts[Kind::draft] = {1, 1, 3 + next(4), 1000 + next(1000)};
    step.counts[Kind::verify] = {1, 1, 5, 2000 + next(1000)};
    step.ns = 5000;
    for (int i = 0; i < 3; ++i) {
      DraftRow draft;
      draft.position = position + i, draft.depth = i, draft.token = next(100);
      draft.q = share(), draft.confidence = share(), draft.margin = share(),
      draft.entropy = share(), draft.renyi2 = share();
      draft.accepted = i < step.accepted ? 1 : i == step.accepted ? 0 : -1;
      if (draft.accepted >= 0) draft.p = share(), draft.accept = share();
      step.drafts.push_back(draft);
    }
    for (int i = 0; i < step.committed; ++i) {
      TokenRow token;
      token.position = position + i, token.rank = i;
      token.token = i < step.accepted ? step.drafts[i].token : next(100);
      token.source =
          static_cast<std::int32_t>(i < step.accepted ? Source::accepted : Source::resampled);
      token.p = share(), token.confidence = share();
      token.ar_local = next(2), token.ar_global = next(2);
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
    row.steps.push_back(std::move(step));
  }
  row.length = position + 2;
  row.valid = row.generated;
  std::int32_t open = row.length - row.prompt_tokens;
  for (StepRow& step : row.steps) step.masked = open, open -= step.committed;
  row.counts[Kind::prefill] = {1, 1, 3, 500};
  row.seconds = 0.25, row.entropy_bits = share(), row.judge_nll = share(),
  row.judge_tokens = row.generated;
  row.scores = {{"exact_match", static_cast<double>(next(2))}};
  if (prompt % 2 == 0) row.scores.emplace_back("rouge_1", share());
  return row;
}

// Writes a trace of samples that lie in the order in which readers find them.
inline void write_made(const std::string& path, int samples, int steps = 4,
                       const std::string& ended = "") {
  Provenance made;
  made.software = "draftlab test", made.started = made.ended = ended;
  TraceWriter writer(path, {made, made_runs()}, TraceOptions{}, false);
  for (int i = 0; i < samples; ++i) writer.sample(made_sample(i % 2, i / 2, 0, steps));
  writer.close();
}

// Copies a trace, column by column, after `edit` has seen each: the way to traces that are wrong in
// one place.
inline void rewrite(const std::string& from, const std::string& to,
                    const std::function<void(ColumnInfo&, Values&)>& edit) {
  const Trace trace(from);
  ColumnWriter file(1);
  file.root(kTraceMagic, trace_tables(), trace.provenance());
  file.attribute("drafts", trace.drafts());
  for (Table table : trace_tables()) {
    const Columns columns = trace.columns(table, 0, trace.rows(table));
    file.table(table, columns.rows());
    for (std::size_t i = 0; i < columns.infos().size(); ++i) {
      ColumnInfo column = columns.infos()[i];
      Values values = columns.values(i);
      edit(column, values);
      if (!column.name.empty()) file.column(table, column, values);
    }
  }
  file.save(to);
}

inline bool equal(const Values& a, const Values& b) {
  if (a.index() != b.index() || size(a) != size(b)) return false;
  if (const auto* numbers = std::get_if<std::vector<double>>(&a)) {
    const auto& others = std::get<std::vector<double>>(b);
    for (std::size_t i = 0; i < numbers->size(); ++i) {
      if (!((*numbers)[i] == others[i] || (std::isnan((*numbers)[i]) && std::isnan(others[i]))))
        return false;
    }
    return true;
  }
  return a == b;
}

// The first column in which two traces differ, times apart, and those named; "" when there is none.
inline std::string differs_in(const std::string& left, const std::string& right,
                              const std::set<std::string>& apart = {}) {
  const Trace a(left), b(right);
  for (Table table : trace_tables()) {
    if (apart.contains(std::string(name(table)))) continue;
    if (a.rows(table) != b.rows(table)) return std::string(name(table));
    const Columns as = a.columns(table, 0, a.rows(table)), bs = b.columns(table, 0, b.rows(table));
    if (as.infos().size() != bs.infos().size()) return "scores";
    for (std::size_t i = 0; i < as.infos().size(); ++i) {
      const ColumnInfo& column = as.infos()[i];
      if (column.unit == "s" || column.unit == "ns" || apart.contains(column.name)) continue;
      if (column.name != bs.infos()[i].name || !equal(as.values(i), bs.values(i)))
        return column.name;
    }
  }
  return "";
}

// All of the numbers of a sample, for comparison with another.
inline std::string differs_in(SampleRow a, SampleRow b) {
  auto differ = [](const auto& columns, auto& left, auto& right) -> std::string {
    for (const auto& column : columns) {
      const bool same = std::visit(
          [](auto* x, auto* y) {
            if constexpr (!std::is_same_v<decltype(x), decltype(y)>)
              return false;
            else if constexpr (std::is_same_v<decltype(x), double*>)
              return *x == *y || (std::isnan(*x) && std::isnan(*y));
            else
              return *x == *y;
          },
          column.field(left), column.field(right));
      if (!same) return column.info.name;
    }
    return "";
  };
  std::string found = differ(fields<SampleRow>(), a, b);
  if (a.scores != b.scores) found = "scores";
  if (a.steps.size() != b.steps.size()) return "steps";
  for (std::size_t s = 0; s < a.steps.size() && found.empty(); ++s) {
    StepRow &x = a.steps[s], &y = b.steps[s];
    found = differ(fields<StepRow>(), x, y);
    if (x.tokens.size() != y.tokens.size() || x.drafts.size() != y.drafts.size())
      return "tokens or drafts";
    for (std::size_t i = 0; i < x.tokens.size() && found.empty(); ++i)
      found = differ(fields<TokenRow>(), x.tokens[i], y.tokens[i]);
    for (std::size_t i = 0; i < x.drafts.size() && found.empty(); ++i)
      found = differ(fields<DraftRow>(), x.drafts[i], y.drafts[i]);
  }
  return found;
}

}  // namespace draftlab
