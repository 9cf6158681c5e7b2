#include "analysis/metrics/metrics.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace draftlab {

double Metric::ratio(std::span<const double> sums) {
  return sums[1] > 0 ? sums[0] / sums[1] : kNotMeasured;
}

bool Measured::has(std::size_t sample) const {
  return std::none_of(columns.begin(), columns.end(),
                      [&](const auto& column) { return std::isnan(column[sample]); });
}

Measured Measured::mean_of(std::vector<double> values) {
  std::vector<double> ones;
  for (const double value : values) ones.push_back(std::isnan(value) ? kNotMeasured : 1);
  return {{std::move(values), std::move(ones)}};
}

Measured Measured::ratio_of(std::vector<double> above, std::vector<double> below) {
  return {{std::move(above), std::move(below)}};
}

Metrics::Metrics(const Frame& frame, const MetricRegistry& known) : samples_(frame) {
  for (const MetricRegistry::Entry& family : known.entries()) {
    const Author author{known.kind(), family.name, family.plugin};
    Diagnostics diagnostics;
    const auto made = family.bind({}, known.kind(), diagnostics).make();
    for (Metric& metric : in_name_of(author, [&] { return made->metrics(samples_); })) {
      const auto [other, fresh] = authors_.emplace(metric.name, author);
      if (!fresh)
        author.blame("declares '{}', which {} declares, too", metric.name, other->second.who());
      all_.push_back(std::move(metric));
    }
  }
}

const Metric& Metrics::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const Metric& metric : all_) {
    if (metric.name == name) return metric;
    names.push_back(metric.name);
  }
  const std::string near = nearest(name, names);
  throw UsageError("there is no metric '{}' in these traces; {}", name,
                   near.empty() ? "draftlab report FILE --metric help lists them"
                                : "did you mean '" + near + "'?");
}

const Measured& Metrics::of(const Metric& metric) const {
  const auto found = measured_.find(metric.name);
  if (found != measured_.end()) return found->second;
  const Author& author = authors_.at(metric.name);
  Measured numbers = in_name_of(author, [&] { return metric.measure(samples_); });
  const std::size_t count = numbers.columns.size();
  const bool whole = std::all_of(
      numbers.columns.begin(), numbers.columns.end(),
      [&](const std::vector<double>& column) { return column.size() == samples_.size(); });
  if (!whole || count == 0 || (metric.by_prompt() && count != 2))
    author.blame(
        "measures '{}' by {} columns; it takes a number for each of {} samples in each, and two "
        "columns where it shows their ratio",
        metric.name, count, samples_.size());
  return measured_.emplace(metric.name, std::move(numbers)).first->second;
}

bool Metrics::measured(const Metric& metric) const {
  const Measured& measured = of(metric);
  for (std::size_t i = 0; i < measured.above().size(); ++i)
    if (samples_.frame().samples()[i].counts && measured.has(i) &&
        (!metric.by_prompt() || measured.below()[i] != 0))
      return true;
  return false;
}

bool Metrics::spent(const std::string& name) const {
  const Measured& measured = of(find(name));
  for (std::size_t i = 0; i < measured.above().size(); ++i)
    if (samples_.frame().samples()[i].counts && measured.has(i) && measured.above()[i] != 0)
      return true;
  return false;
}

std::vector<std::string> Metrics::usual() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, bool also_zero = true) {
    if (also_zero ? measured(find(name)) : spent(name)) names.push_back(name);
  };
  const bool ends = samples_.column("sample_valid") != samples_.column("sample_generated");
  // Of vectors, what is computed are states: a function evaluation judges a whole block of drafts.
  if (samples_.frame().has_vectors()) add("states");
  for (const char* name : {"nfe", "tokens_per_forward"}) add(name);
  if (ends) add("valid_per_forward");
  add("seconds");
  add("acceptance_rate");
  if (samples_.frame().has_vectors()) {
    for (const char* name : {"trial_acceptance", "proposals_per_trial", "tokens_per_step"})
      add(name);
  }
  add("perplexity");
  add("entropy_bits", false);
  if (samples_.has_bleu()) add("bleu");
  for (const Metric& metric : all_)
    if (metric.name == "frechet" || metric.name == "frechet_plain" ||
        metric.name == "class_score" || metric.name == "energy_distance")
      names.push_back(metric.name);
  for (const std::string& score : samples_.plain_scores()) add(score);
  return names;
}

}  // namespace draftlab
