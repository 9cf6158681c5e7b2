#include "analysis/report/verdict.h"

#include <cmath>
#include <cstdio>

#include "core/base/table.h"

namespace draftlab {
namespace {

using Finding = Equivalence::Finding;

std::string with_sign(double value, int digits) {
  return (value < 0 ? "" : "+") + fixed(value, digits);
}

// "entropy, bits" is called "entropy" in a sentence, which names the unit elsewhere.
std::string called(const Metric& quantity) {
  return quantity.title.substr(0, quantity.title.find(','));
}

std::string unit_of(const Metric& quantity) {
  if (quantity.margin == "margin_nll") return " nats a token";
  return quantity.unit == "bit" ? " bits" : "";
}

std::string margin_text(const Metric& quantity, double margin) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", margin);
  return text + unit_of(quantity);
}

// Beyond the margin: how much better or worse, or how far apart where neither is better.
std::string different(const Metric& quantity, const Equivalence& e, int digits) {
  const Estimate& d = e.difference;
  const bool up = d.value > 0, judged = quantity.better != 0;
  const std::string amount =
      !judged ? with_sign(d.value, digits) + " [" + with_sign(d.interval.low, digits) + ", " +
                    with_sign(d.interval.high, digits) + "]"
      : up ? fixed(d.value, digits) + " [" + fixed(d.interval.low, digits) + ", " +
                 fixed(d.interval.high, digits) + "]"
           : fixed(-d.value, digits) + " [" + fixed(-d.interval.high, digits) + ", " +
                 fixed(-d.interval.low, digits) + "]";
  const bool better = (quantity.better > 0) == up;
  return called(quantity) +
         (!judged  ? " differs by "
          : better ? " better by "
                   : " worse by ") +
         amount + unit_of(quantity) + " (90 %), beyond the margin of " +
         margin_text(quantity, e.margin);
}

std::string prompts_text(double needed) {
  return "about " + fixed(std::ceil(needed), 0) + " prompts";
}

}  // namespace

Judgement verdict(const Metric& quantity, const Versus& versus) {
  if (!versus.refused.empty() || !versus.equivalence) return {};
  const int digits = quantity.digits + 1;
  const Equivalence& e = *versus.equivalence;
  const std::string name = called(quantity), head = name + ": ";
  if (e.finding == Finding::unjudged) {
    const std::string said = "cannot be judged from " + std::to_string(e.prompts) +
                             (e.prompts == 1 ? " prompt" : " prompts");
    return {
        name + " " + said + ", " +
            (e.prompts < kLeastPrompts ? "and " + std::to_string(kLeastPrompts) + " are the least"
                                       : "of which all differ alike") +
            ": " + with_sign(e.difference.value, digits),
        head + said};
  }
  if (e.finding == Finding::different) {
    const bool up = e.difference.value > 0;
    return {different(quantity, e, digits), head + (quantity.better == 0          ? "differs"
                                                    : (quantity.better > 0) == up ? "better"
                                                                                  : "worse")};
  }
  const bool equal = e.finding == Finding::equivalent;
  std::string line = name + (equal ? "" : " not shown") + " equivalent within " +
                     margin_text(quantity, e.margin) + ": " +
                     with_sign(e.difference.value, digits) + " [" +
                     with_sign(e.difference.interval.low, digits) + ", " +
                     with_sign(e.difference.interval.high, digits) + "] (90 %)";
  if (equal) return {line, head + "equivalent"};
  std::string brief = head + "undecided";
  if (!std::isinf(e.needed)) brief += ", needs " + prompts_text(e.needed);
  line += std::isinf(e.needed)
              ? "; what was measured lies outside the margin, so more prompts would not show it"
              : "; needs " + prompts_text(e.needed);
  if (!versus.non_inferiority) return {line, brief};
  const NonInferiority& n = *versus.non_inferiority;
  if (n.shown) return {line + "; no worse", head + "no worse"};
  line += "; not shown to be no worse";
  if (!std::isinf(n.needed)) line += ", which needs " + prompts_text(n.needed);
  return {line, brief};
}

Judgement undecided_factor(const Metric& quantity, const Versus& versus) {
  if (!versus.refused.empty() || !(versus.needed > versus.prompts)) return {};
  const Interval& interval = versus.ratio.interval;
  return {quantity.title + " undecided (" + fixed(versus.ratio.value, 2) + "x [" +
              fixed(interval.low, 2) + ", " + fixed(interval.high, 2) + "]); telling " +
              fixed(kVisibleRatio, 2) + "x from 1 needs " + prompts_text(versus.needed),
          quantity.title + ": undecided, needs " + prompts_text(versus.needed)};
}

}  // namespace draftlab
