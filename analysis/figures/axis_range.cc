#include "analysis/figures/axis_range.h"

#include <algorithm>
#include <cmath>

#include "analysis/figures/script_text.h"

namespace draftlab {
namespace {

// One, two or five times a power of ten, so that at most `most` steps cover the length.
double nice_step(double length, std::size_t most) {
  const double rough = length / static_cast<double>(most),
               power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= rough * (1 - 1e-9)) return times * power;
  return 10 * power;
}

}  // namespace

void AxisRange::add(double value) {
  if (!std::isfinite(value)) return;
  low_ = any_ ? std::min(low_, value) : value;
  high_ = any_ ? std::max(high_, value) : value;
  any_ = true;
}

void AxisRange::add(const Estimate& estimate) {
  add(estimate.value), add(estimate.interval.low), add(estimate.interval.high);
}

bool AxisRange::within_a_share() const { return any_ && low_ >= 0 && high_ <= 1; }

std::string AxisRange::commands(char axis, bool share, std::size_t most,
                                const std::vector<double>& values) const {
  const std::string name(1, axis);
  const auto range = [&](double low, double high) {
    return "set " + name + "range [" + number_text(low) + ":" + number_text(high) + "]\n";
  };
  std::string text = "unset logscale " + name + "\n";
  if (share && !closely_)
    return text + range(0, 1) + "set " + name + "tics 0," + (most < 4 ? "0.5" : "0.2") + ",1\n";
  if (values.size() > 1 && values.front() > 0 && values.back() >= 8 * values.front()) {
    const double first = values.front() / 1.25, last = values.back() * 1.25,
                 apart = std::log(last / first) / static_cast<double>(most);
    std::string tics;
    double before = 0;
    for (const double value : values) {
      // Its label would touch the one before.
      if (before > 0 && std::log(value / before) < apart) continue;
      tics += (tics.empty() ? "" : ", ") + number_text(value);
      before = value;
    }
    return "set logscale " + name + " 2\n" + range(first, last) + "set " + name + "tics (" + tics +
           ")\n";
  }
  double low = low_, high = high_;
  if (!any_) low = 0, high = 1;
  const double length = high > low ? high - low : std::max(std::abs(high), 1.0) * 0.2;
  const double pad = high > low ? 0.07 * length : 0.5 * length;
  const bool from_zero = !closely_ && low >= 0 && low <= 0.15 * high;
  low = from_zero ? 0 : low - pad, high += pad;
  // Nothing lies beyond a share's ends, so that no tic stands there.
  if (share) low = std::max(low, -0.02 * length), high = std::min(high, 1 + 0.02 * length);
  double step = nice_step(high - low, most);
  // Numbers of many digits stand side by side below the axis, so fewer of them fit.
  if (const std::size_t digits = number_text(step).size(); axis == 'x' && digits > 4)
    step = nice_step(high - low, std::max<std::size_t>(2, most * 3 / digits));
  const auto is_whole = [](double value) { return value == std::floor(value); };
  if (!values.empty() && std::all_of(values.begin(), values.end(), is_whole))
    step = std::max(step, 1.0);
  return text + range(low, high) + "set " + name + "tics " + number_text(step) + "\n";
}

std::string count_tics(std::size_t last) {
  const auto step =
      static_cast<std::size_t>(std::max(1.0, nice_step(static_cast<double>(last), 8)));
  std::string tics = "1";
  for (std::size_t at = step; at <= last; at += step)
    if (at > 1) tics += ", " + std::to_string(at);
  return "set xtics (" + tics + ")\n";
}

}  // namespace draftlab
