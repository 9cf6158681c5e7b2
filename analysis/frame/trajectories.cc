#include "analysis/frame/trajectories.h"

#include <algorithm>
#include <cmath>

#include "core/metrics/decode_metrics.h"

namespace draftlab {
namespace {

constexpr int kLargestWindow = 4, kParts = 10;

double ratio(double above, double below) { return below > 0 ? above / below : kNotMeasured; }

// Computes the means of what falls into equal parts. What was not measured is left out.
class Parts {
 public:
  explicit Parts(int parts)
      : sums_(static_cast<std::size_t>(parts)), counts_(static_cast<std::size_t>(parts)) {}
  void add(int part, double value) {
    if (std::isnan(value)) return;
    sums_[part] += value;
    ++counts_[part];
  }
  std::vector<double> means() const {
    std::vector<double> means;
    for (std::size_t i = 0; i < sums_.size(); ++i) means.push_back(ratio(sums_[i], counts_[i]));
    return means;
  }

 private:
  std::vector<double> sums_, counts_;
};

std::string label(const RunRow& run) { return run.arm.empty() ? run.id : run.arm; }

}  // namespace

SampleRow read_as(SampleRow sample, const OrderReading& reading) {
  if (reading.ties == Ties::position) {
    for (StepRow& step : sample.steps)
      std::stable_sort(
          step.tokens.begin(), step.tokens.end(),
          [](const TokenRow& a, const TokenRow& b) { return a.position < b.position; });
  }
  mark_ar(sample);
  return sample;
}

std::vector<int> ends_chains(std::span<const std::int32_t> order, int k) {
  const auto before = static_cast<std::size_t>(k);
  std::vector<int> ends(order.size(), -1);
  for (std::size_t t = before; t < order.size(); ++t)
    ends[t] = local_ar_s2d2(order.subspan(t - before, before + 1), k) == 1;
  return ends;
}

std::vector<std::int32_t> generated_order(const SampleRow& sample, const OrderReading& reading) {
  std::vector<std::int32_t> order = ranks(commit_order(read_as(sample, reading)));
  if (!reading.past_end)
    std::erase_if(order, [&](std::int32_t position) { return position >= sample.valid; });
  return order;
}

ArNess ar_ness(std::span<const SampleRow> samples, int k, const OrderReading& reading) {
  ArNess sum{0, 0, 0, 0, 0};
  for (const SampleRow& sample : samples) {
    const std::vector<std::int32_t> order = generated_order(sample, reading);
    if (order.size() < 2) continue;
    sum.local_diffucoder += local_ar_diffucoder(order, k);
    sum.local_s2d2 += local_ar_s2d2(order, k);
    sum.global += global_ar(order, k);
    sum.tau += kendall_tau(order);
    ++sum.samples;
  }
  const auto n = static_cast<double>(sum.samples);
  return {ratio(sum.local_diffucoder, n), ratio(sum.local_s2d2, n), ratio(sum.global, n),
          ratio(sum.tau, n), sum.samples};
}

Course course(std::span<const SampleRow> samples, int parts) {
  Parts confidence(parts), entropy(parts), tokens(parts), accepted(parts);
  for (const SampleRow& sample : samples) {
    for (std::size_t s = 0; s < sample.steps.size(); ++s) {
      const int part = static_cast<int>((static_cast<double>(s) + 0.5) /
                                        static_cast<double>(sample.steps.size()) * parts);
      tokens.add(part, sample.steps[s].committed);
      for (const TokenRow& token : sample.steps[s].tokens) {
        if (!token.commits()) continue;
        confidence.add(part, token.confidence);
        entropy.add(part, token.entropy);
      }
      for (const DraftRow& draft : sample.steps[s].drafts) {
        const bool judged = draft.accepted >= 0 && draft.depth >= sample.steps[s].exact;
        if (judged) accepted.add(part, draft.accepted);
      }
    }
  }
  return {confidence.means(), entropy.means(), tokens.means(), accepted.means()};
}

std::string trajectories(const std::vector<RunRow>& runs, const std::vector<SampleRow>& samples,
                         const OrderReading& reading, TableForm form) {
  TextTable ar{{"AR-ness, k = 1 2 3 4", "local, DiffuCoder", "local, S2D2", "global",
                "Kendall's tau", "samples"},
               {}};
  TextTable steps{{"course, in tenths of the steps", "of"}, {}};
  for (int part = 1; part <= kParts; ++part) steps.header.push_back(std::to_string(part));
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::vector<SampleRow> own;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(own),
                 [&](const SampleRow& sample) { return sample.run == static_cast<int>(run); });
    if (own.empty()) continue;
    std::vector<std::string> row = {label(runs[run]), "", "", "", "", ""};
    for (int k = 1; k <= kLargestWindow; ++k) {
      const ArNess at = ar_ness(own, k, reading);
      const double values[] = {at.local_diffucoder, at.local_s2d2, at.global};
      for (int i = 0; i < 3; ++i) row[i + 1] += (k > 1 ? " " : "") + fixed(values[i], 3);
      row[4] = fixed(at.tau, 3);
      row[5] = std::to_string(at.samples);
    }
    ar.rows.push_back(row);
    const Course course_of_run = course(own, kParts);
    std::string name = label(runs[run]);  // It stands in the first line alone.
    const auto line = [&](const std::string& what, const std::vector<double>& values) {
      const auto missing = [](double value) { return std::isnan(value); };
      if (std::all_of(values.begin(), values.end(), missing)) return;
      std::vector<std::string> cells = {name, what};
      for (const double value : values) cells.push_back(fixed(value, 2));
      steps.rows.push_back(cells);
      name.clear();
    };
    line("confidence", course_of_run.confidence);
    line("entropy", course_of_run.entropy);
    line("tokens", course_of_run.tokens);
    line("accepted", course_of_run.accepted);
  }
  return ar.in(form) + (form == TableForm::text ? "\n" : "") + steps.in(form);
}

}  // namespace draftlab
