#include "analysis/report/summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "analysis/statistics.h"
#include "analysis/table.h"
#include "core/metrics/decode_metrics.h"
#include "core/metrics/image_metrics.h"
#include "core/metrics/text_metrics.h"

namespace draftlab {
namespace {

using Measure = double (*)(const SampleRow&);

double forwards(const SampleRow& sample) { return static_cast<double>(sample.counts.nfe()); }
double seconds(const SampleRow& sample) { return sample.seconds; }

struct Arm {
  std::string name;
  std::vector<SampleRow> samples;

  std::string row_name() const { return name.size() <= 48 ? name : name.substr(0, 45) + "..."; }
  double mean(Measure measure) const {
    double sum = 0;
    for (const SampleRow& sample : samples) sum += measure(sample);
    return sum / static_cast<double>(samples.size());
  }
  double mean_calls(Kind kind) const {
    double sum = 0;
    for (const SampleRow& sample : samples) sum += static_cast<double>(sample.counts[kind].calls);
    return sum / static_cast<double>(samples.size());
  }
  double mean_drafter_calls() const {
    return mean(
        [](const SampleRow& sample) { return static_cast<double>(sample.drafter_counts.nfe()); });
  }
};

std::string prompt_of(const SampleRow& sample) {
  return sample.prompt_id.empty() ? std::to_string(sample.prompt_index) : sample.prompt_id;
}

std::set<std::string> prompts_of(const Arm& arm) {
  std::set<std::string> prompts;
  for (const SampleRow& sample : arm.samples) prompts.insert(prompt_of(sample));
  return prompts;
}

// "decode.block_size=4 router=ucb run.seed=1" as "block_size=4 router=ucb", where every arm has
// that seed and no other key ends alike.
std::vector<std::string> shortened(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> uses;
  std::map<std::string, std::set<std::string>> ends;
  const auto words = [](const std::string& name) {
    std::istringstream in(name);
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  const auto end_of = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  for (const std::string& name : names) {
    for (const std::string& word : words(name)) {
      const std::string key = word.substr(0, word.find('='));
      ++uses[word];
      ends[end_of(key)].insert(key);
    }
  }
  std::vector<std::string> result;
  for (const std::string& name : names) {
    std::string text;
    for (const std::string& word : words(name)) {
      if (names.size() > 1 && uses[word] == names.size()) continue;
      const std::string key = word.substr(0, word.find('=')), end = end_of(key);
      text +=
          (text.empty() ? "" : " ") + (ends[end].size() == 1 ? end : key) + word.substr(key.size());
    }
    result.push_back(text.empty() ? name : text);
  }
  return result;
}

// Arms that decoded the same prompts, in the order of the sweep. Each group is a table with a
// baseline of its own.
std::vector<std::vector<Arm>> groups_of(const std::vector<RunRow>& runs,
                                        const std::vector<SampleRow>& samples) {
  std::vector<Arm> arms(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    arms[i].name = !runs[i].arm.empty()  ? runs[i].arm
                   : !runs[i].id.empty() ? runs[i].id
                                         : "run " + std::to_string(i);
  }
  std::vector<std::string> names;
  for (const Arm& arm : arms) names.push_back(arm.name);
  names = shortened(names);
  for (std::size_t i = 0; i < arms.size(); ++i) arms[i].name = names[i];
  for (const SampleRow& sample : samples) {
    if (sample.run < 0 || static_cast<std::size_t>(sample.run) >= arms.size()) continue;
    arms[sample.run].samples.push_back(sample);
    arms[sample.run].samples.back().steps.clear();
  }
  std::vector<std::vector<Arm>> groups;
  for (Arm& arm : arms) {
    if (arm.samples.empty()) continue;
    const std::set<std::string> prompts = prompts_of(arm);
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const std::vector<Arm>& group) {
          const std::set<std::string> others = prompts_of(group.front());
          return std::any_of(prompts.begin(), prompts.end(),
                             [&](const std::string& prompt) { return others.contains(prompt); });
        });
    if (same == groups.end())
      groups.push_back({std::move(arm)});
    else
      same->push_back(std::move(arm));
  }
  return groups;
}

// One number a prompt: the samples that both arms have are summed (above / below, where below is
// not constant).
struct Paired {
  std::vector<double> baseline, arm;
};

Paired pair(const Arm& baseline, const Arm& arm, Measure above, Measure below, bool divide) {
  std::map<std::pair<std::string, int>, const SampleRow*> theirs;
  for (const SampleRow& sample : baseline.samples)
    theirs[{prompt_of(sample), sample.sample_index}] = &sample;
  struct Sums {
    double baseline_above = 0, baseline_below = 0, arm_above = 0, arm_below = 0;
  };
  std::map<std::string, Sums> prompts;
  for (const SampleRow& sample : arm.samples) {
    const auto other = theirs.find({prompt_of(sample), sample.sample_index});
    if (other == theirs.end()) continue;
    const double values[] = {above(*other->second), below(*other->second), above(sample),
                             below(sample)};
    if (std::any_of(std::begin(values), std::end(values),
                    [](double value) { return std::isnan(value); }))
      continue;
    Sums& sums = prompts[prompt_of(sample)];
    sums.baseline_above += values[0];
    sums.baseline_below += values[1];
    sums.arm_above += values[2];
    sums.arm_below += values[3];
  }
  Paired paired;
  for (const auto& [prompt, sums] : prompts) {
    if (divide && !(sums.baseline_below > 0 && sums.arm_below > 0)) continue;
    paired.baseline.push_back(divide ? sums.baseline_above / sums.baseline_below
                                     : sums.baseline_above);
    paired.arm.push_back(divide ? sums.arm_above / sums.arm_below : sums.arm_above);
  }
  return paired;
}

double one(const SampleRow&) { return 1; }

std::string ratio_cell(const Arm& baseline, const Arm& arm, Measure measure) {
  const Paired paired = pair(baseline, arm, measure, one, false);
  const Estimate ratio = speedup(paired.baseline, paired.arm);
  if (std::isnan(ratio.value)) return "-";
  if (std::isnan(ratio.interval.low)) return fixed(ratio.value, 2) + "x";
  return fixed(ratio.value, 2) + "x [" + fixed(ratio.interval.low, 2) + ", " +
         fixed(ratio.interval.high, 2) + "]";
}

// What each arm cost, a sample.
TextTable costs(const std::vector<Arm>& arms) {
  struct Column {
    std::string name;
    Kind kind;
    bool always;
  };
  std::vector<Column> kinds = {{"prefill", Kind::prefill, false},
                               {"draft", Kind::draft, true},
                               {"verify", Kind::verify, true},
                               {"commit", Kind::commit, false},
                               {"aux", Kind::aux, true}};
  std::erase_if(kinds, [&](const Column& column) {
    return !column.always && std::all_of(arms.begin(), arms.end(), [&](const Arm& arm) {
      return arm.mean_calls(column.kind) == 0;
    });
  });
  const bool drafter = std::any_of(arms.begin(), arms.end(),
                                   [](const Arm& arm) { return arm.mean_drafter_calls() > 0; });
  TextTable table{{"arm"}, {}};
  for (const Column& column : kinds) table.header.push_back(column.name);
  table.header.insert(table.header.end(), {"NFE", "tokens/NFE", "tokens/step"});
  if (drafter) table.header.push_back("draft model");
  table.header.insert(table.header.end(), {"fewer NFE", "seconds", "speedup"});
  for (const Arm& arm : arms) {
    std::vector<std::string> row{arm.row_name()};
    for (const Column& column : kinds) row.push_back(fixed(arm.mean_calls(column.kind), 1));
    row.push_back(fixed(arm.mean(forwards), 1));
    row.push_back(fixed(tokens_per_forward(arm.samples), 2));
    row.push_back(fixed(tokens_per_iteration(arm.samples), 2));
    if (drafter) row.push_back(fixed(arm.mean_drafter_calls(), 1));
    const bool baseline = &arm == &arms.front();
    row.push_back(baseline ? "1" : ratio_cell(arms.front(), arm, forwards));
    row.push_back(fixed(arm.mean(seconds), 3));
    row.push_back(std::isnan(arm.mean(seconds)) ? "-"
                  : baseline                    ? "1"
                                                : ratio_cell(arms.front(), arm, seconds));
    table.rows.push_back(std::move(row));
  }
  return table;
}

double entropy_bits(const SampleRow& sample) { return sample.entropy_bits; }
double judge_nll(const SampleRow& sample) {
  return sample.judge_tokens > 0 ? sample.judge_nll : kNotMeasured;
}
double judge_tokens(const SampleRow& sample) { return static_cast<double>(sample.judge_tokens); }

double mean_score(const Arm& arm, const std::string& name) {
  double sum = 0;
  int count = 0;
  for (const SampleRow& sample : arm.samples) {
    for (const auto& [score, value] : sample.scores) {
      if (score != name || std::isnan(value)) continue;
      sum += value;
      ++count;
    }
  }
  return count > 0 ? sum / count : kNotMeasured;
}

bool is_bleu_sum(const std::string& score) {
  return std::find(kBleuSums.begin(), kBleuSums.end(), score) != kBleuSums.end();
}

// Of all texts together; NaN where the task records no sums of BLEU.
double corpus_bleu(const Arm& arm) {
  BleuSums sums{};
  for (const SampleRow& sample : arm.samples) {
    for (const auto& [score, value] : sample.scores) {
      const auto at = std::find(kBleuSums.begin(), kBleuSums.end(), score);
      if (at != kBleuSums.end()) sums[static_cast<std::size_t>(at - kBleuSums.begin())] += value;
    }
  }
  return bleu(sums);
}

// What each arm was worth.
TextTable worth(const std::vector<Arm>& arms) {
  std::vector<std::string> scores;
  bool translates = false;
  for (const Arm& arm : arms) {
    for (const SampleRow& sample : arm.samples) {
      for (const auto& [name, value] : sample.scores) {
        translates = translates || is_bleu_sum(name);
        if (!is_bleu_sum(name) && !is_image_part(name) &&
            std::find(scores.begin(), scores.end(), name) == scores.end())
          scores.push_back(name);
      }
    }
  }
  TextTable table{{"arm", "judge perplexity", "entropy, bits"}, {}};
  if (translates) table.header.push_back("BLEU");
  table.header.insert(table.header.end(), scores.begin(), scores.end());
  for (const Arm& arm : arms) {
    std::vector<std::string> row{arm.row_name(), fixed(perplexity(arm.samples), 2),
                                 fixed(arm.mean(entropy_bits), 3)};
    if (translates) row.push_back(fixed(corpus_bleu(arm), 2));
    for (const std::string& name : scores) row.push_back(fixed(mean_score(arm, name), 3));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string verdict(const std::string& quantity, const std::string& unit, const Paired& paired,
                    double margin) {
  if (paired.arm.size() < 2) return {};
  const Equivalence result = equivalence(paired.baseline, paired.arm, margin);
  static const std::map<Equivalence::Finding, std::string> findings = {
      {Equivalence::Finding::equivalent, "equivalent"},
      {Equivalence::Finding::undecided, "not shown equivalent"},
      {Equivalence::Finding::different, "DIFFERENT"}};
  const auto signed_fixed = [](double value) { return (value < 0 ? "" : "+") + fixed(value, 3); };
  char bound[32];
  std::snprintf(bound, sizeof bound, "%g", margin);
  std::string line = "  " + quantity + " " + findings.at(result.finding) + " within " + bound +
                     " " + unit + ": " + signed_fixed(result.difference.value) + " [" +
                     signed_fixed(result.difference.interval.low) + ", " +
                     signed_fixed(result.difference.interval.high) + "]";
  if (result.finding == Equivalence::Finding::undecided)
    line += "; needs about " + fixed(std::ceil(result.needed), 0) + " prompts";
  return line + "\n";
}

std::string verdicts(const std::vector<Arm>& arms, const ReportOptions& options) {
  std::string text;
  for (std::size_t i = 1; i < arms.size(); ++i) {
    const std::string lines =
        verdict("perplexity", "nats a token",
                pair(arms.front(), arms[i], judge_nll, judge_tokens, true), options.margin_nll) +
        verdict("entropy", "bits", pair(arms.front(), arms[i], entropy_bits, one, true),
                options.margin_entropy);
    if (!lines.empty()) text += arms[i].name + " against " + arms.front().name + ":\n" + lines;
  }
  return text;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Breaks lines at blanks, so that none is longer than 120 columns; what follows is indented below
// an indented line.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 120;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    const std::string indent(line.starts_with(' ') ? line.find_first_not_of(' ') + 2 : 0, ' ');
    while (line.size() > kWidth) {
      std::size_t blank = line.rfind(' ', kWidth);
      if (blank == std::string::npos || blank < indent.size()) break;
      result += line.substr(0, blank) + "\n";
      line = indent + line.substr(blank + 1);
    }
    result += line + "\n";
    begin = end + 1;
  }
  return result;
}

std::string notes(const std::vector<Arm>& arms) {
  std::size_t most = 0;
  std::set<std::size_t> prompts;
  for (const Arm& arm : arms) {
    prompts.insert(prompts_of(arm).size());
    most = std::max(most, arm.samples.size());
  }
  std::string text =
      counted(*prompts.rbegin(), "prompt") + ", " + counted(most, "sample") + " an arm";
  if (prompts.size() > 1)
    text += " (at least " + std::to_string(*prompts.begin()) + ": some arms are unfinished)";
  text += "; figures are means a sample.";
  if (arms.size() > 1) {
    text += " Ratios are of sums, against " + arms.front().name +
            ", paired by prompt, with pointwise 95 % intervals from resampled prompts"
            " (equivalence: 90 %), conditional on one checkpoint.";
  }
  if (std::isnan(arms.front().mean(seconds)))
    text += " Seconds a sample are undefined at batch > 1.";
  return text + "\n";
}

}  // namespace

std::string summary(const std::vector<RunRow>& runs, const std::vector<SampleRow>& samples,
                    const ReportOptions& options) {
  std::string text;
  for (const std::vector<Arm>& arms : groups_of(runs, samples)) {
    if (!text.empty()) text += "\n";
    text += costs(arms).print() + "\n" + worth(arms).print() + "\n";
    const std::string findings = verdicts(arms, options);
    if (!findings.empty()) text += wrapped(findings) + "\n";
    text += wrapped(notes(arms));
  }
  return text.empty() ? "no finished sample\n" : text;
}

}  // namespace draftlab
