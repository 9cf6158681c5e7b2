#include "analysis/report/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/frame/timing.h"
#include "analysis/report/baselines.h"
#include "analysis/report/choice.h"
#include "analysis/report/comparison.h"
#include "analysis/report/grouping.h"
#include "analysis/report/report_notes.h"
#include "analysis/report/verdict.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

class Maker {
 public:
  Maker(const Frame& frame, const ReportRequest& request)
      : frame_(frame),
        request_(request),
        quantities_(frame, *request.known),
        grouping_(frame, request.by),
        pairing_(frame, grouping_),
        origin_(grouping_.groups.size()) {
    for (const Frame::Sample& sample : frame.samples()) {
      if (!sample.counts) continue;
      SampleOrigin& origin = origin_[grouping_.group_of[sample.arm]];
      origin.files.insert(sample.file);
      origin.prompts.insert(sample.prompt);
      ++origin.samples;
    }
  }

  Report make() {
    report_.by = grouping_.by;
    report_.pivot = request_.pivot;
    report_.confidence = request_.confidence;
    report_.family = request_.family;
    if (!report_.pivot.empty() &&
        std::count(report_.by.begin(), report_.by.end(), report_.pivot) == 0) {
      throw UsageError("--pivot {} must be one of the keys of --by", report_.pivot);
    }
    for (const std::string& name :
         request_.metrics.empty() ? quantities_.usual() : request_.metrics)
      report_.quantities.push_back(quantities_.find(name));
    add_speedup();
    choose_baselines();
    stand_in_for_seconds();
    for (std::size_t g = 0; g < grouping_.groups.size(); ++g) {
      Report::Group group{grouping_.groups[g].name, grouping_.groups[g].keys,
                          grouping_.groups[g].arms, baseline_[g]};
      group.samples = origin_[g].samples;
      for (const Metric& quantity : report_.quantities)
        group.cells[quantity.name] = cell(static_cast<int>(g), quantity);
      group.called = grouping_.groups[g].called;
      report_.groups.push_back(std::move(group));
    }
    adjust();
    find_equal_texts();
    collect_keys();
    drop_empty_groups();
    find_verdicts();
    add_notes({frame_, quantities_, origin_, pairing_keys_, request_.confidence, request_.family},
              report_);
    return std::move(report_);
  }

 private:
  // The metric whose factor stands in brackets, as a column of its own.
  void add_speedup() {
    report_.speedup = request_.speedup;
    if (report_.speedup.empty()) return;
    if (report_.pivot.empty())
      throw UsageError(
          "--speedup {} stands in brackets in a table with --pivot KEY, and there is none",
          report_.speedup);
    const Metric& quantity = quantities_.find(report_.speedup);
    if (quantity.compare == Metric::Compare::difference)
      throw UsageError("--speedup {} must be a cost or a rate, such as nfe or seconds",
                       report_.speedup);
    const std::string refused = quantity.timing ? times_refused(frame_) : "";
    if (!refused.empty())
      throw DataError(
          "--speedup {}: times may not be compared, since {}; --speedup nfe counts function "
          "evaluations",
          report_.speedup, refused);
    const auto same = [&](const Metric& q) { return q.name == quantity.name; };
    if (std::none_of(report_.quantities.begin(), report_.quantities.end(), same))
      report_.quantities.push_back(quantity);
  }

  bool share_prompts(int one, int other) const {
    const auto& theirs = origin_[one].prompts;
    return std::any_of(origin_[other].prompts.begin(), origin_[other].prompts.end(),
                       [&](int prompt) { return theirs.contains(prompt); });
  }

  void choose_baselines() {
    std::vector<std::set<int>> prompts;
    for (const SampleOrigin& origin : origin_) prompts.push_back(origin.prompts);
    baseline_ = baselines_of({frame_, grouping_, prompts}, request_.baseline);
  }

  // Why times of two groups say nothing about each other; "" when they may be compared.
  std::string timing_refusal(int baseline, int group) const {
    std::set<int> files = origin_[baseline].files;
    files.insert(origin_[group].files.begin(), origin_[group].files.end());
    return times_refused(frame_, files);
  }

  // Where seconds may not be compared, function evaluations stand in for them.
  void stand_in_for_seconds() {
    const bool timing = std::any_of(report_.quantities.begin(), report_.quantities.end(),
                                    [](const Metric& q) { return q.timing; });
    const bool nfe = std::any_of(report_.quantities.begin(), report_.quantities.end(),
                                 [](const Metric& q) { return q.name == "nfe"; });
    std::set<std::string> reasons;
    for (std::size_t g = 0; timing && g < baseline_.size(); ++g) {
      if (origin_[g].samples == 0 || baseline_[g] == static_cast<int>(g)) continue;
      if (const std::string reason = timing_refusal(baseline_[g], static_cast<int>(g));
          !reason.empty())
        reasons.insert(reason);
    }
    if (timing && reasons.empty())
      if (std::string note = side_by_side_note(frame_); !note.empty())
        report_.notes.push_back(std::move(note));
    if (reasons.empty()) return;
    report_.times_refused = *reasons.begin();
    report_.notes.push_back(times_note(report_.times_refused));
    if (!nfe) report_.quantities.insert(report_.quantities.begin(), quantities_.find("nfe"));
  }

  ReportCell cell(int g, const Metric& quantity) {
    const Measured& measured = quantities_.of(quantity);
    PromptSums sums = pairing_.all(g, measured);
    ReportCell cell;
    for (const std::int64_t i : pairing_.members(g))
      cell.samples += !std::isnan(measured.above()[i]);
    if (baseline_[g] != g) {
      PromptSums paired;
      cell.versus = versus(g, quantity, measured, paired);
      // A value and its difference come from the same samples.
      if (cell.versus->refused.empty() && cell.versus->samples < cell.samples) {
        sums = std::move(paired);
        cell.samples = cell.versus->samples;
      }
    }
    cell.prompts = static_cast<int>(sums.prompts.size());
    cell.value = estimate(quantity, sums.columns, quantity.statistic, request_.confidence);
    if (quantity.exponential) {
      cell.value = {std::exp(cell.value.value),
                    {std::exp(cell.value.interval.low), std::exp(cell.value.interval.high)}};
    }
    return cell;
  }

  // `paired` becomes the group's sums over the samples that have a partner.
  Versus versus(int g, const Metric& quantity, const Measured& measured, PromptSums& paired) {
    const int baseline = baseline_[g];
    Versus result;
    result.ratio = result.difference = {kNotMeasured, {kNotMeasured, kNotMeasured}};
    if (quantity.timing) result.refused = timing_refusal(baseline, g);
    if (quantity.of_drafts && result.refused.empty()) result.refused = structural(baseline, g);
    auto [theirs, mine] = pairing_.common(baseline, g, measured, quantity.by_prompt());
    result.prompts = static_cast<int>(mine.prompts.size());
    for (const auto& [their_sample, my_sample] : pairing_.pairs(baseline, g))
      result.samples +=
          !std::isnan(measured.above()[their_sample]) && !std::isnan(measured.above()[my_sample]);
    if (mine.prompts.empty() && result.refused.empty())
      result.refused = why_nothing_in_common(baseline, g, measured);
    if (result.refused.empty()) result.refused = without_partner(baseline, g);
    if (!result.refused.empty()) return result;
    paired = mine;
    compare({quantity, std::move(theirs), std::move(mine),
             pairing_.discordance(baseline, g, measured), margin_of(quantity), request_.confidence},
            result);
    return result;
  }

  // Where some of a row's samples can have no partner, its difference would be of others.
  std::string without_partner(int baseline, int g) {
    const std::string lacking = pairing_.without_partner(baseline, g);
    if (lacking.empty()) return "";
    const std::string refused = "it has samples of " + lacking + ", which " +
                                grouping_.groups[baseline].name +
                                " has not; in --by, the key makes rows of their own";
    report_notes_once(grouping_.groups[g].name + " is not compared: " + refused + ".");
    return refused;
  }

  // Where every draft of an arm is the target's own draw, what became of them is no finding.
  std::string structural(int baseline, int g) const {
    for (const int group : {g, baseline}) {
      AcceptanceSums sums;
      for (const std::int64_t i : pairing_.members(group))
        sums.add(quantities_.samples().acceptance()[i]);
      if (sums.drafted > 0 && sums.drafted == sums.structural_drafted)
        return "every draft of " + grouping_.groups[group].name +
               " is the target's own draw, which is always accepted";
    }
    return "";
  }

  std::string why_nothing_in_common(int baseline, int g, const Measured& measured) const {
    for (const int group : {g, baseline}) {
      const auto& members = pairing_.members(group);
      if (std::none_of(members.begin(), members.end(), [&](std::int64_t i) {
            return measured.has(static_cast<std::size_t>(i)) && measured.below()[i] != 0;
          }))
        return "it was not measured in " + grouping_.groups[group].name;
    }
    if (!share_prompts(baseline, g)) return "they have no prompt in common";
    return pairing_.pairs(baseline, g).empty()
               ? "they have prompts in common, but no seed (run.seed)"
               : "no prompt of both was measured";
  }

  std::optional<double> margin_of(const Metric& quantity) {
    if (quantity.margin.empty()) return std::nullopt;
    const DeclaredMargin margin = declared_margin(frame_, quantity.margin);
    if (!margin.note.empty()) report_notes_once(margin.note);
    return margin.value;
  }

  void report_notes_once(const std::string& note) {
    if (std::count(report_.notes.begin(), report_.notes.end(), note) == 0)
      report_.notes.push_back(note);
  }

  // Holm over each family of tests.
  void adjust() {
    std::map<std::pair<std::size_t, int>, std::vector<Versus*>> families;
    for (std::size_t q = 0; q < report_.quantities.size(); ++q) {
      for (Report::Group& group : report_.groups) {
        auto& versus = group.cells.at(report_.quantities[q].name).versus;
        if (!versus || std::isnan(versus->p)) continue;
        const bool all = request_.family == Family::all,
                   by_baseline = request_.family == Family::baseline;
        families[{all ? 0 : q, by_baseline ? group.baseline : 0}].push_back(&*versus);
      }
    }
    for (const auto& [which, family] : families) {
      std::vector<double> p;
      for (const Versus* versus : family) p.push_back(versus->p);
      const std::vector<double> adjusted = holm(p);
      for (std::size_t i = 0; i < family.size(); ++i) family[i]->p_holm = adjusted[i];
    }
  }

  // On which other keys groups are matched with their baselines, and in which they differ.
  void collect_keys() {
    std::set<std::string> matched, apart;
    for (std::size_t g = 0; g < baseline_.size(); ++g) {
      const int group = static_cast<int>(g);
      if (baseline_[g] == group || origin_[g].samples == 0) continue;
      for (const std::string& key : pairing_.matched_on(baseline_[g], group)) matched.insert(key);
      for (const std::string& key : pairing_.apart_in(baseline_[g], group)) apart.insert(key);
    }
    pairing_keys_.matched.assign(matched.begin(), matched.end());
    pairing_keys_.apart.assign(apart.begin(), apart.end());
  }

  void drop_empty_groups() {
    std::vector<int> place;
    std::vector<Report::Group> kept;
    for (std::size_t g = 0; g < report_.groups.size(); ++g) {
      place.push_back(static_cast<int>(kept.size()));
      if (origin_[g].samples > 0) kept.push_back(std::move(report_.groups[g]));
    }
    for (Report::Group& group : kept) group.baseline = place[group.baseline];
    for (Report::Finding& finding : report_.findings) finding.group = place[finding.group];
    report_.groups = std::move(kept);
    std::erase_if(origin_, [](const SampleOrigin& origin) { return origin.samples == 0; });
  }

  // What the comparisons say, sentence by sentence.
  void find_verdicts() {
    for (std::size_t g = 0; g < report_.groups.size(); ++g) {
      for (const Metric& quantity : report_.quantities) {
        const auto& versus = report_.groups[g].cell(quantity).versus;
        if (!versus) continue;
        for (const Judgement& found :
             {verdict(quantity, *versus), undecided_factor(quantity, *versus)})
          if (!found.sentence.empty())
            report_.findings.push_back({static_cast<int>(g), found.sentence, found.brief});
      }
    }
  }

  // Arms that mostly write the same texts are meant to be one decoder: greedy decoding, faster.
  void find_equal_texts() {
    std::vector<std::string> texts;
    for (std::size_t g = 0; g < report_.groups.size(); ++g) {
      const int baseline = report_.groups[g].baseline;
      if (baseline == static_cast<int>(g) || origin_[g].samples == 0) continue;
      if (texts.empty()) texts = frame_.texts("sample_text");
      std::size_t equal = 0, compared = 0;
      for (const auto& [theirs, mine] : pairing_.pairs(baseline, static_cast<int>(g))) {
        if (texts[theirs].empty() && texts[mine].empty()) continue;
        ++compared;
        equal += texts[theirs] == texts[mine];
      }
      if (compared > 0 && 2 * equal > compared)
        report_.findings.push_back(
            {static_cast<int>(g),
             std::to_string(equal) + " of " + std::to_string(compared) + " texts are equal",
             std::to_string(equal) + "/" + std::to_string(compared) + " texts equal"});
    }
  }

  const Frame& frame_;
  const ReportRequest& request_;
  Metrics quantities_;
  Grouping grouping_;
  Pairing pairing_;
  std::vector<SampleOrigin> origin_;
  std::vector<int> baseline_;  // The baseline of each group.
  PairingKeys pairing_keys_;
  Report report_;
};

}  // namespace

const ReportCell& Report::Group::cell(const std::string& metric) const {
  const auto found = cells.find(metric);
  if (found == cells.end()) throw Fault("the table has no column '{}'", metric);
  return found->second;
}

std::string Report::pair(int group) const {
  return groups[group].name + " against " + groups[groups[group].baseline].name;
}

std::string Report::found(int group) const {
  std::string text;
  for (const Finding& finding : findings)
    if (finding.group == group) text += (text.empty() ? "" : "; ") + finding.brief;
  return text;
}

std::string Report::text(const Finding& finding) const {
  return pair(finding.group) + ": " + finding.sentence + ".";
}

Report make_report(const Frame& frame, const ReportRequest& request) {
  if (request.choose.empty()) {
    if (!request.tune.empty())
      throw UsageError(
          "--tune names prompts to choose arms on, so --choose METRIC must say by what");
    return Maker(frame, request).make();
  }
  if (request.tune.empty())
    throw UsageError(
        "--choose {} needs --tune: traces of other prompts, or how many of the first prompts "
        "choose",
        request.choose);
  std::vector<std::string> notes;
  const Frame reported = chosen(frame, request, notes);
  Report report = Maker(reported, request).make();
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  return report;
}

std::string metric_help(const Frame& frame, const MetricRegistry& known) {
  TextTable table{{"metric", "unit", "better", "meaning"}, {}};
  const Metrics quantities(frame, known);
  for (const Metric& quantity : quantities.all()) {
    table.rows.push_back({quantity.name, quantity.unit,
                          quantity.better > 0   ? "more"
                          : quantity.better < 0 ? "less"
                                                : "-",
                          quantity.doc});
  }
  // A table's cells stand at the right, but sentences begin below each other.
  std::size_t longest = 0;
  for (const auto& row : table.rows) longest = std::max(longest, row.back().size());
  table.header.back().resize(longest, ' ');
  for (auto& row : table.rows) row.back().resize(longest, ' ');
  return table.print(200);
}

}  // namespace draftlab
