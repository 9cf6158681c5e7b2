#include "experiments/sweep/sweep_status.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "core/base/progress.h"
#include "core/trace/provenance.h"
#include "core/trace/trace_file.h"

namespace draftlab {

std::size_t Manifest::count(std::string_view status) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const CellRow& row) { return row.status == status; }));
}

Manifest manifest(const SweepFolder& folder) {
  const Claims claims(folder.attempts(), folder.lease());
  const std::map<std::string, Attempts> all = claims.all();
  Manifest manifest;
  std::int32_t run = 0;
  for (const SweepCell& cell : folder.cells()) {
    const auto found = all.find(cell.id);
    const Attempts attempts = found == all.end() ? Attempts{} : found->second;
    const Standing where = folder.standing(cell, attempts, claims);
    CellRow row;
    row.id = cell.id, row.arm = cell.cell.label, row.status = name(where);
    row.attempts = static_cast<std::int32_t>(
        std::count_if(attempts.begin(), attempts.end(),
                      [](const Attempt& a) { return a.state != AttemptState::forgiven; }));
    for (const Attempt& attempt : attempts) row.seconds += attempt.seconds;
    std::string last_line;
    if (!attempts.empty()) {
      const Attempt& last = attempts.back();
      row.host = last.host, row.started = last.started, row.exit_status = last.exit_status,
      row.signal = last.signal;
      row.reason = where == Standing::done ? "" : last.reason;
      last_line = last.last_line;
    }
    if (where == Standing::done) row.run = run++;
    manifest.rows.push_back(std::move(row));
    manifest.last_lines.push_back(std::move(last_line));
  }
  return manifest;
}

bool gather(const SweepFolder& folder, const Manifest& manifest) {
  std::vector<GatheredTrace> cells;
  for (std::size_t i = 0; i < manifest.rows.size(); ++i) {
    const SweepCell& cell = folder.cells()[i];
    if (manifest.rows[i].run < 0) continue;
    GatheredTrace trace{folder.trace(cell), cell.cell.label, cell.first, cell.prompts,
                        cell.samples,       cell.cell.name,  {}};
    for (const auto& [key, value] : cell.cell.shown)
      trace.axes.push_back({.key = key, .value = value});
    cells.push_back(std::move(trace));
  }
  if (cells.empty()) return false;
  const Trace first(cells.front().path);
  Provenance made = first.provenance();
  made.title = folder.config().title();
  made.config = to_text(folder.config());
  made.ended = utc_now();
  for (const CellRow& row : manifest.rows)
    if (!row.started.empty()) made.started = std::min(made.started, row.started);
  gather(folder.result(), made, cells, manifest.rows);
  return true;
}

bool print_status(const SweepFolder& folder, const Manifest& manifest, std::ostream& out) {
  out << folder.path() << ": " << manifest.rows.size() << " cells";
  for (const char* const status : {"done", "running", "failed", "quarantined", "missing"}) {
    if (const std::size_t count = manifest.count(status)) out << ", " << count << " " << status;
  }
  out << (folder.cancelled() ? ", cancelled\n" : "\n");
  constexpr std::size_t kMostShown = 20;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < manifest.rows.size(); ++i) {
    const CellRow& row = manifest.rows[i];
    if (row.status != "failed" && row.status != "quarantined") continue;
    if (++shown > kMostShown) continue;
    out << "  " << row.status << " after " << row.attempts
        << (row.attempts == 1 ? " attempt: " : " attempts: ")
        << (row.arm.empty() ? row.id : row.arm) << "\n    ";
    if (row.signal)
      out << "signal " << row.signal << ": ";
    else if (row.exit_status)
      out << "exit status " << row.exit_status << ": ";
    out << row.reason << "\n";
    if (!manifest.last_lines[i].empty())
      out << "    its log, " << folder.log(folder.cells()[i])
          << ", ends in: " << manifest.last_lines[i] << "\n";
  }
  if (shown > kMostShown) out << "  and " << shown - kMostShown << " more\n";
  if (folder.estimated_core_hours() > 0) {
    double seconds = 0;
    for (const CellRow& row : manifest.rows) seconds += row.seconds;
    char text[120];
    std::snprintf(text, sizeof text,
                  "  %.3f process-hours so far; %.3f were estimated for the whole\n",
                  seconds / 3600, folder.estimated_core_hours());
    out << text;
  }
  return manifest.count("done") == manifest.rows.size();
}

std::size_t forgive_failures(const SweepFolder& folder) {
  Claims claims(folder.attempts(), folder.lease());
  const std::map<std::string, Attempts> all = claims.all();
  std::size_t count = 0;
  for (const auto& [cell, attempts] : all) {
    if (failures(attempts) == 0 || attempts.back().state == AttemptState::done) continue;
    if (!claims.claim(cell, attempts.back().number + 1, "")) continue;
    claims.finish(AttemptState::forgiven, {});
    ++count;
  }
  return count;
}

}  // namespace draftlab
