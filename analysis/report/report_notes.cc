#include "analysis/report/report_notes.h"

#include <algorithm>
#include <map>

#include "analysis/frame/widened.h"
#include "core/base/table.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string family_text(Family family) {
  switch (family) {
    case Family::baseline: return "the rows of a metric that have the same baseline";
    case Family::table: return "the rows of a metric";
    case Family::all: return "all rows and metrics of the table";
  }
  return "";
}

// Rows whose values are of fewer samples than they have.
void add_left_out(Report& report) {
  for (const Report::Group& group : report.groups) {
    for (const auto& [metric, cell] : group.cells) {
      if (!cell.versus || !cell.versus->refused.empty() || cell.samples != cell.versus->samples ||
          cell.samples >= group.samples)
        continue;
      report.notes.push_back(report.pair(static_cast<int>(&group - report.groups.data())) + ": " +
                             metric + " is of the " + std::to_string(cell.samples) + " of " +
                             std::to_string(group.samples) +
                             " samples that were measured in both.");
      break;
    }
  }
}

void add_timing_note(const Noted& noted, bool interleaved, Report& report) {
  int repeats = 0;
  std::map<std::pair<int, int>, int> times;  // How often an arm decoded a prompt.
  for (const Frame::Sample& sample : noted.frame.samples())
    if (sample.counts) repeats = std::max(repeats, ++times[{sample.arm, sample.prompt}]);
  std::string note = "Intervals of seconds do not see the machine's own noise";
  if (repeats < 3)
    note += ": " + counted(repeats, "repeat") +
            (repeats == 1 ? " of a prompt was timed" : " of a prompt were timed") +
            ", and three are the least";
  if (!interleaved) note += "; the arms took no turns in one process";
  report.notes.push_back(note + ".");
}

// Names the plugins of one name whose contents differ: arms of such a name are different methods,
// however alike their configs are.
void add_conflicts(const Frame& frame, Report& report) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> files;
  for (const Frame::File& file : frame.files()) {
    for (const int arm : file.arms)
      for (const auto& [key, value] : frame.arms()[arm].config)
        if (key.starts_with("plugins.")) files[key][value].insert(file.path);
  }
  for (const auto& [key, contents] : files) {
    if (contents.size() == 1) continue;
    std::string list;
    for (const auto& [content, paths] : contents)
      list += (list.empty() ? "" : ", ") + content + " in " +
              joined(std::vector<std::string>(paths.begin(), paths.end()), " and ");
    report.notes.push_back("Arms whose " + key + " differ are different methods: " + list + ".");
  }
}

// Says how much the table is of, and what its intervals are.
std::string extent_note(const Noted& noted) {
  std::size_t fewest = 1u << 31, most = 0, samples = 0;
  for (const SampleOrigin& origin : noted.origin) {
    fewest = std::min(fewest, origin.prompts.size());
    most = std::max(most, origin.prompts.size());
    samples = std::max<std::size_t>(samples, origin.samples);
  }
  std::string note = counted(most, "prompt") + ", " + counted(samples, "sample") + " a row";
  if (fewest != most)
    note +=
        " (at least " + counted(fewest, "prompt") + ": some rows are unfinished, or other tasks)";
  const int digits = noted.confidence == 0.95 || noted.confidence == 0.9 ? 0 : 1;
  note += ". Brackets: " + fixed(100 * noted.confidence, digits) +
          " % intervals of resampled prompts (BCa), pointwise, conditional on one checkpoint.";
  if (const std::string widened = widened_note(noted.frame); !widened.empty())
    note += " The target was " + widened + " parameters.";
  return note;
}

// Says how rows are compared with their baselines.
void add_pairing(const Noted& noted, Report& report) {
  std::string matched = "prompt, seed and repeat";
  if (!noted.keys.matched.empty()) matched += ", and on " + joined(noted.keys.matched);
  report.notes.push_back(
      "Comparisons are paired by " + matched +
      ". Factors are ratios of sums. Differences of shares of right answers have score "
      "intervals (Tango 1998, with a continuity correction), other differences are means "
      "over prompts with Student's. p inverts the interval of its row, and is then corrected "
      "by Holm over " +
      family_text(noted.family) + "; intervals are not; * below 0.05.");
  if (!noted.keys.apart.empty())
    report.notes.push_back("Rows differ from their baseline in " + joined(noted.keys.apart) +
                           " as well as in the keys of the table.");
}

// Names what [report] errors calls a score and no task scored: a name that is misspelt would leave
// a score whose more is taken for better.
void add_unknown_errors(const Samples& samples, Report& report) {
  const std::vector<std::string> scores = samples.plain_scores();
  std::string known;
  for (const std::string& score : scores) known += (known.empty() ? "" : ", ") + score;
  for (const std::string& error : samples.declared_errors())
    if (std::find(scores.begin(), scores.end(), error) == scores.end())
      report.notes.push_back(
          "[report] errors names '" + error + "', which no trace has scored; " +
          (known.empty() ? "they have no scores." : "the scores are " + known + "."));
}

// Says that texts have tokens behind their end, where no metric shown counts those before it.
void add_ends(const Noted& noted, Report& report) {
  const bool shown =
      std::any_of(report.quantities.begin(), report.quantities.end(),
                  [](const Metric& q) { return q.name.find("valid") != std::string::npos; });
  const auto count_of = [&](const char* metric) {
    return noted.quantities.of(noted.quantities.find(metric)).above();
  };
  const std::vector<double> generated = count_of("generated"), valid = count_of("valid");
  if (!shown && !std::equal(generated.begin(), generated.end(), valid.begin()))
    report.notes.push_back(
        "Texts end before their canvas does: see valid_per_forward and nfe_per_valid, which "
        "count tokens before the first end token.");
}

}  // namespace

void add_notes(const Noted& noted, Report& report) {
  bool compared = false, interleaved = true;
  for (const Report::Group& group : report.groups) {
    const auto index = static_cast<int>(&group - report.groups.data());
    compared = compared || group.baseline != index;
    interleaved = interleaved && noted.origin[static_cast<std::size_t>(index)].files ==
                                     noted.origin[group.baseline].files;
  }
  const auto shows = [&](auto is) {
    return std::any_of(report.quantities.begin(), report.quantities.end(), is);
  };
  std::vector<std::string> others = std::move(report.notes);
  report.notes = {extent_note(noted)};
  if (compared) add_pairing(noted, report);
  report.notes.insert(report.notes.end(), others.begin(), others.end());
  add_conflicts(noted.frame, report);
  add_left_out(report);
  if (shows([](const Metric& metric) { return metric.jackknife == Metric::Jackknife::value; }))
    report.notes.push_back(
        "The Frechet distance is of the task's own classifier, without the bias of few images "
        "(jackknife), with Student's interval from its standard error; a distance of zero may "
        "come out below it.");
  if (shows([](const Metric& metric) { return metric.timing; }))
    add_timing_note(noted, interleaved, report);
  add_ends(noted, report);
  add_unknown_errors(noted.quantities.samples(), report);
}

}  // namespace draftlab
