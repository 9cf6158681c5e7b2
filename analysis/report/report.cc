#include "analysis/report/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/grouping.h"
#include "analysis/report/choice.h"
#include "analysis/report/report_options.h"
#include "analysis/table.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string plus(double value, int digits) { return (value < 0 ? "" : "+") + fixed(value, digits); }

std::string between(const Interval& interval, int digits) {
  return "[" + plus(interval.low, digits) + ", " + plus(interval.high, digits) + "]";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// What is known of a group's samples besides their numbers.
struct Origin {
  std::set<int> files, prompts;
  int samples = 0;
};

class Maker {
 public:
  Maker(const Frame& frame, const ReportRequest& request)
      : frame_(frame),
        request_(request),
        quantities_(frame),
        grouping_(frame, request.by),
        pairing_(frame, grouping_),
        origin_(grouping_.groups.size()) {
    for (const Frame::Sample& sample : frame.samples()) {
      if (!sample.counts) continue;
      Origin& origin = origin_[grouping_.group_of[sample.arm]];
      origin.files.insert(sample.file);
      origin.prompts.insert(sample.prompt);
      ++origin.samples;
    }
  }

  Report make() {
    report_.by = grouping_.by;
    report_.pivot = request_.pivot;
    report_.confidence = request_.confidence;
    if (!report_.pivot.empty() &&
        std::count(report_.by.begin(), report_.by.end(), report_.pivot) == 0) {
      throw UsageError("--pivot " + report_.pivot + " must be one of the keys of --by");
    }
    for (const std::string& name :
         request_.metrics.empty() ? quantities_.usual() : request_.metrics)
      report_.quantities.push_back(quantities_.find(name));
    choose_baselines();
    stand_in_for_seconds();
    for (std::size_t g = 0; g < grouping_.groups.size(); ++g) {
      Report::Group group{grouping_.groups[g].name,
                          grouping_.groups[g].keys,
                          grouping_.groups[g].arms,
                          baseline_[g],
                          {}};
      for (const Quantity& quantity : report_.quantities)
        group.cells.push_back(cell(static_cast<int>(g), quantity));
      report_.groups.push_back(std::move(group));
    }
    adjust();
    find_equal_texts();
    drop_empty_groups();
    describe();
    return std::move(report_);
  }

 private:
  void choose_baselines() {
    std::vector<int> candidates;
    const int count = static_cast<int>(grouping_.groups.size());
    const bool stepwise = request_.baseline.empty();
    for (int g = 0; g < count; ++g) {
      if (origin_[g].samples > 0 && is_baseline(frame_, grouping_.groups[g].arms,
                                                stepwise ? "drafter=stepwise" : request_.baseline))
        candidates.push_back(g);
    }
    if (candidates.empty() && !stepwise)
      throw UsageError("no group of this table is --baseline " + request_.baseline);
    for (int g = 0; candidates.empty() && g < count; ++g)
      if (origin_[g].samples > 0) candidates.push_back(g);
    if (stepwise && candidates.size() > 1 &&
        !is_baseline(frame_, grouping_.groups[candidates[0]].arms, "drafter=stepwise"))
      candidates.resize(1);
    for (int g = 0; g < count; ++g) {
      if (std::count(candidates.begin(), candidates.end(), g)) {
        baseline_.push_back(g);
        continue;
      }
      int best = candidates[0], most = -1;
      for (int candidate : candidates) {
        int alike = 0;
        for (std::size_t k = 0; k < grouping_.by.size(); ++k)
          alike += grouping_.groups[g].keys[k] == grouping_.groups[candidate].keys[k];
        const auto& theirs = origin_[candidate].prompts;
        const bool shares = std::any_of(origin_[g].prompts.begin(), origin_[g].prompts.end(),
                                        [&](int prompt) { return theirs.contains(prompt); });
        if (2 * alike + shares > most) most = 2 * alike + shares, best = candidate;
      }
      baseline_.push_back(best);
    }
  }

  // Why seconds of two groups say nothing about each other; "" when they may.
  std::string timing_refusal(int baseline, int group) const {
    std::set<int> files = origin_[baseline].files;
    files.insert(origin_[group].files.begin(), origin_[group].files.end());
    const Provenance& first = frame_.files()[*files.begin()].provenance;
    for (int f : files) {
      const Frame::File& file = frame_.files()[f];
      const auto batch = file.config.find("run.batch");
      if (batch != file.config.end() && batch->second != "1")
        return "'" + file.path + "' was decoded at batch " + batch->second;
      if (file.gathered)
        return "'" + file.path +
               "' was gathered from the jobs of a sweep, which may have run side by side or "
               "elsewhere; time arms in one run";
      const Provenance& made = file.provenance;
      if (made.host != first.host || made.cpu != first.cpu)
        return "they come from several machines (" + first.host + ", " + made.host + ")";
      if (made.device != first.device || made.dtype != first.dtype || made.threads != first.threads)
        return "they were measured with different devices, precisions or threads";
      for (std::size_t o = 0; o < frame_.files().size(); ++o) {
        const Provenance& other = frame_.files()[o].provenance;
        if (static_cast<int>(o) == f || other.host != made.host || other.started.empty() ||
            made.started.empty())
          continue;
        if (other.started < made.ended && made.started < other.ended) {
          return "'" + file.path + "' and '" + frame_.files()[o].path +
                 "' ran at the same time on " + made.host;
        }
      }
    }
    return "";
  }

  // Where seconds may not be compared, function evaluations stand in for them.
  void stand_in_for_seconds() {
    const bool timing = std::any_of(report_.quantities.begin(), report_.quantities.end(),
                                    [](const Quantity& q) { return q.timing; });
    const bool nfe = std::any_of(report_.quantities.begin(), report_.quantities.end(),
                                 [](const Quantity& q) { return q.name == "nfe"; });
    std::set<std::string> reasons;
    for (std::size_t g = 0; timing && g < baseline_.size(); ++g) {
      if (origin_[g].samples == 0 || baseline_[g] == static_cast<int>(g)) continue;
      if (const std::string reason = timing_refusal(baseline_[g], static_cast<int>(g));
          !reason.empty())
        reasons.insert(reason);
    }
    if (reasons.empty()) return;
    report_.notes.push_back("Seconds are not compared: " + *reasons.begin() +
                            ". Compare function evaluations.");
    if (!nfe) report_.quantities.insert(report_.quantities.begin(), quantities_.find("nfe"));
  }

  static Estimate estimate(const Quantity& quantity, std::span<const std::vector<double>> columns,
                           const Statistic& statistic, double confidence) {
    return quantity.debiased ? jackknife(columns, statistic, confidence)
                             : cluster_bootstrap(columns, statistic, confidence);
  }

  ReportCell cell(int g, const Quantity& quantity) {
    const Measured& measured = quantities_.of(quantity);
    const PromptSums sums = pairing_.all(g, measured);
    ReportCell cell;
    cell.prompts = static_cast<int>(sums.prompts.size());
    for (const std::int64_t i : pairing_.members(g))
      cell.samples += !std::isnan(measured.above()[i]);
    cell.value = estimate(quantity, sums.columns, quantity.statistic, request_.confidence);
    if (quantity.exponential) {
      cell.value = {std::exp(cell.value.value),
                    {std::exp(cell.value.interval.low), std::exp(cell.value.interval.high)}};
    }
    if (baseline_[g] != g) cell.versus = versus(baseline_[g], g, quantity, measured);
    return cell;
  }

  Versus versus(int baseline, int g, const Quantity& quantity, const Measured& measured) {
    Versus result;
    result.ratio = result.difference = {kNotMeasured, {kNotMeasured, kNotMeasured}};
    if (quantity.timing) result.refused = timing_refusal(baseline, g);
    const auto [theirs, mine] = pairing_.common(baseline, g, measured, quantity.by_prompt());
    result.prompts = static_cast<int>(mine.prompts.size());
    if (mine.prompts.empty() && result.refused.empty())
      result.refused = "they have no measured prompt in common";
    if (!result.refused.empty()) return result;
    if (!quantity.by_prompt()) return versus_as_a_whole(theirs, mine, quantity, std::move(result));
    std::vector<double> their_means, my_means;
    for (std::size_t i = 0; i < mine.prompts.size(); ++i) {
      their_means.push_back(theirs.columns[0][i] / theirs.columns[1][i]);
      my_means.push_back(mine.columns[0][i] / mine.columns[1][i]);
    }
    result.difference = difference(their_means, my_means, request_.confidence);
    if (mine.prompts.size() >= 2) {
      std::vector<double> differences;
      for (std::size_t i = 0; i < my_means.size(); ++i)
        differences.push_back(my_means[i] - their_means[i]);
      result.p = sign_flip_p(differences);
    }
    if (quantity.compare != Quantity::Compare::difference) {
      const int sign = quantity.compare == Quantity::Compare::cost ? 1 : -1;
      const std::vector<double> columns[] = {theirs.columns[0], theirs.columns[1], mine.columns[0],
                                             mine.columns[1]};
      const Estimate logs = cluster_bootstrap(
          columns,
          [&](std::span<const double> s) {
            const bool positive = s[0] > 0 && s[1] > 0 && s[2] > 0 && s[3] > 0;
            return positive ? sign * std::log((s[0] / s[1]) / (s[2] / s[3])) : kNotMeasured;
          },
          request_.confidence);
      result.ratio = {std::exp(logs.value),
                      {std::exp(logs.interval.low), std::exp(logs.interval.high)}};
      if (logs.interval.low < 0 && logs.interval.high > 0) {
        const double z = 1.959964, error = (logs.interval.high - logs.interval.low) / (2 * z) *
                                           std::sqrt(static_cast<double>(result.prompts));
        result.needed = prompts_for_difference(error, std::log(kVisibleRatio));
      }
    }
    if (!quantity.margin.empty() && mine.prompts.size() >= 2) {
      const double margin = margin_of(quantity.margin);
      result.equivalence = equivalence(their_means, my_means, margin);
      if (quantity.better != 0)
        result.non_inferiority = non_inferiority(their_means, my_means, margin, quantity.better);
    }
    return result;
  }

  // Of a quantity that no prompt has by itself: the difference of two statistics, of the same
  // resampled prompts for both arms.
  Versus versus_as_a_whole(const PromptSums& theirs, const PromptSums& mine,
                           const Quantity& quantity, Versus result) {
    std::vector<std::vector<double>> columns = theirs.columns;
    columns.insert(columns.end(), mine.columns.begin(), mine.columns.end());
    const auto gain = [&](std::span<const double> s) {
      return quantity.statistic(s.subspan(s.size() / 2)) -
             quantity.statistic(s.first(s.size() / 2));
    };
    result.difference = estimate(quantity, columns, gain, request_.confidence);
    if (!quantity.margin.empty() && mine.prompts.size() >= 2) {
      const double margin = margin_of(quantity.margin);
      const Estimate narrower = estimate(quantity, columns, gain, 0.9);
      result.equivalence = equivalence(narrower, result.prompts, margin);
      if (quantity.better != 0)
        result.non_inferiority = non_inferiority(narrower, result.prompts, margin, quantity.better);
    }
    return result;
  }

  // As the traces' config declared it before anything was decoded.
  double margin_of(const std::string& key) {
    ReportOptions defaults;
    OptionSet set;
    defaults.declare(set);
    const auto option = std::find_if(set.options().begin(), set.options().end(),
                                     [&](const Option& one) { return one.name() == key; });
    if (option == set.options().end()) throw Fault("there is no [report] " + key);
    double margin = std::atof(option->value().c_str());
    bool declared = false;
    for (const Frame::File& file : frame_.files()) {
      const auto found = file.config.find("report." + key);
      if (found == file.config.end()) continue;
      const double value = std::atof(found->second.c_str());
      if (declared && value != margin)
        report_notes_once("The traces declare different margins ([report] " + key +
                          "); the widest is not taken, the first is.");
      else if (value > 0)
        margin = value;
      declared = true;
    }
    if (!declared)
      report_notes_once("No trace declares [report] " + key + "; its default " + fixed(margin, 3) +
                        " was taken.");
    return margin;
  }

  void report_notes_once(const std::string& note) {
    if (std::count(report_.notes.begin(), report_.notes.end(), note) == 0)
      report_.notes.push_back(note);
  }

  // Holm over all arms of one metric against one baseline.
  void adjust() {
    const std::set<int> baselines(baseline_.begin(), baseline_.end());
    for (std::size_t q = 0; q < report_.quantities.size(); ++q) {
      for (int baseline : baselines) {
        std::vector<Versus*> family;
        std::vector<double> p;
        for (Report::Group& group : report_.groups) {
          auto& versus = group.cells[q].versus;
          if (group.baseline != baseline || !versus || std::isnan(versus->p)) continue;
          family.push_back(&*versus);
          p.push_back(versus->p);
        }
        const std::vector<double> adjusted = holm(p);
        for (std::size_t i = 0; i < family.size(); ++i) family[i]->p_holm = adjusted[i];
      }
    }
  }

  void drop_empty_groups() {
    std::vector<int> place;
    std::vector<Report::Group> kept;
    for (std::size_t g = 0; g < report_.groups.size(); ++g) {
      place.push_back(static_cast<int>(kept.size()));
      if (origin_[g].samples > 0) kept.push_back(std::move(report_.groups[g]));
    }
    for (Report::Group& group : kept) group.baseline = place[group.baseline];
    report_.groups = std::move(kept);
    std::erase_if(origin_, [](const Origin& origin) { return origin.samples == 0; });
  }

  void describe() {
    for (const Report::Group& group : report_.groups) {
      const std::string pair = group.name + " against " + report_.groups[group.baseline].name;
      for (std::size_t q = 0; q < report_.quantities.size(); ++q) {
        if (group.cells[q].versus) find(pair, report_.quantities[q], *group.cells[q].versus);
      }
    }
    std::size_t fewest = 1u << 31, most = 0, samples = 0, pairs = 0;
    bool generated_differ = false, interleaved = true;
    std::set<int> files;
    for (const Origin& origin : origin_) {
      fewest = std::min(fewest, origin.prompts.size());
      most = std::max(most, origin.prompts.size());
      samples = std::max<std::size_t>(samples, origin.samples);
      files.insert(origin.files.begin(), origin.files.end());
    }
    for (const Report::Group& group : report_.groups) {
      pairs += !group.cells.empty() && group.cells[0].versus.has_value();
      const Origin& mine = origin_[&group - report_.groups.data()];
      interleaved = interleaved && mine.files == origin_[group.baseline].files;
    }
    std::string first = counted(most, "prompt") + ", " + counted(samples, "sample") + " a row";
    if (fewest != most)
      first +=
          " (at least " + counted(fewest, "prompt") + ": some rows are unfinished, or other tasks)";
    const std::string level =
        fixed(100 * request_.confidence,
              request_.confidence == 0.95 || request_.confidence == 0.9 ? 0 : 1) +
        " %";
    first += ". Brackets: " + level +
             " intervals of resampled prompts (BCa), pointwise, conditional on one checkpoint.";
    report_.notes.insert(report_.notes.begin(), first);
    if (pairs > 0) {
      std::string matched = "prompt, seed and repeat";
      if (!pairing_.matched_on().empty()) matched += ", and on " + joined(pairing_.matched_on());
      report_.notes.insert(
          report_.notes.begin() + 1,
          "Comparisons are paired by " + matched +
              ". Factors are ratios of sums; differences are means over prompts, with Student's "
              "intervals. p: sign flips of prompt means, after Holm over the rows of a metric that "
              "have the same baseline; * below 0.05.");
    }
    const bool debiased = std::any_of(report_.quantities.begin(), report_.quantities.end(),
                                      [](const Quantity& q) { return q.debiased; });
    if (debiased)
      report_.notes.push_back(
          "The Frechet distance is of the task's own classifier, without the bias of few images "
          "(jackknife), with Student's interval from its standard error; a distance of zero may "
          "come out below it.");
    const bool timing = std::any_of(report_.quantities.begin(), report_.quantities.end(),
                                    [](const Quantity& q) { return q.timing; });
    if (timing) describe_timing(interleaved);
    const std::vector<double> generated = quantities_.of(quantities_.find("generated")).above(),
                              valid = quantities_.of(quantities_.find("valid")).above();
    for (std::size_t i = 0; i < generated.size(); ++i)
      generated_differ = generated_differ || generated[i] != valid[i];
    const bool shown =
        std::any_of(report_.quantities.begin(), report_.quantities.end(),
                    [](const Quantity& q) { return q.name.find("valid") != std::string::npos; });
    if (generated_differ && !shown)
      report_.notes.push_back(
          "Texts end before their canvas does: see valid_per_forward and nfe_per_valid, which "
          "count tokens before the first end token.");
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
        report_.findings.push_back(report_.groups[g].name + " against " +
                                   report_.groups[baseline].name + ": " + std::to_string(equal) +
                                   " of " + std::to_string(compared) + " texts are equal.");
    }
  }

  void describe_timing(bool interleaved) {
    int repeats = 0;
    std::map<std::pair<int, int>, int> times;  // of an arm on a prompt
    for (const Frame::Sample& sample : frame_.samples())
      if (sample.counts) repeats = std::max(repeats, ++times[{sample.arm, sample.prompt}]);
    std::string note = "Intervals of seconds do not see the machine's own noise";
    if (repeats < 3)
      note +=
          ": " + counted(repeats, "repeat") + " of a prompt were timed, and three are the least";
    if (!interleaved) note += "; the arms took no turns in one process";
    report_.notes.push_back(note + ".");
  }

  void find(const std::string& pair, const Quantity& quantity, const Versus& versus) {
    if (!versus.refused.empty()) return;
    const int digits = quantity.digits + 1;
    if (versus.equivalence) {
      const Equivalence& e = *versus.equivalence;
      char within[64];
      std::snprintf(within, sizeof within, "%g", e.margin);
      const std::string unit = quantity.margin == "margin_nll" ? " nats a token"
                               : quantity.unit == "bit"        ? " bits"
                                                               : "";
      std::string line = pair + ": " + quantity.title + " ";
      line += e.finding == Equivalence::Finding::equivalent  ? "equivalent"
              : e.finding == Equivalence::Finding::different ? "DIFFERENT"
                                                             : "not shown equivalent";
      line += " within " + std::string(within) + unit + ": " + plus(e.difference.value, digits) +
              " " + between(e.difference.interval, digits) + " (90 %)";
      if (e.finding == Equivalence::Finding::undecided)
        line += "; needs about " + fixed(std::ceil(e.needed), 0) + " prompts";
      if (versus.non_inferiority) {
        line += versus.non_inferiority->shown ? "; no worse" : "; not shown to be no worse";
        if (!versus.non_inferiority->shown && e.finding != Equivalence::Finding::different) {
          line += ", which needs about " + fixed(std::ceil(versus.non_inferiority->needed), 0);
        }
      }
      report_.findings.push_back(line + ".");
    }
    if (!std::isnan(versus.needed) && versus.needed > versus.prompts) {
      report_.findings.push_back(
          pair + ": " + quantity.title + " undecided (" + fixed(versus.ratio.value, 2) + "x [" +
          fixed(versus.ratio.interval.low, 2) + ", " + fixed(versus.ratio.interval.high, 2) +
          "]); telling " + fixed(kVisibleRatio, 2) + "x from 1 needs about " +
          fixed(std::ceil(versus.needed), 0) + " prompts.");
    }
  }

  const Frame& frame_;
  const ReportRequest& request_;
  Quantities quantities_;
  Grouping grouping_;
  Pairing pairing_;
  std::vector<Origin> origin_;
  std::vector<int> baseline_;  // of a group
  Report report_;
};

}  // namespace

Report make_report(const Frame& frame, const ReportRequest& request) {
  if (request.choose.empty()) {
    if (!request.tune.empty())
      throw UsageError(
          "--tune names prompts to choose arms on, so --choose METRIC must say by what");
    return Maker(frame, request).make();
  }
  if (request.tune.empty())
    throw UsageError(
        "--choose " + request.choose +
        " needs --tune: traces of other prompts, or how many of the first prompts choose");
  std::vector<std::string> notes;
  const Frame reported = chosen(frame, request, notes);
  Report report = Maker(reported, request).make();
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  return report;
}

std::string metric_help(const Frame& frame) {
  TextTable table{{"metric", "unit", "better", "meaning"}, {}};
  const Quantities quantities(frame);
  for (const Quantity& quantity : quantities.all()) {
    table.rows.push_back({quantity.name, quantity.unit,
                          quantity.better > 0   ? "more"
                          : quantity.better < 0 ? "less"
                                                : "-",
                          quantity.doc});
  }
  return table.print(200);
}

}  // namespace draftlab
