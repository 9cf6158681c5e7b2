#include "experiments/certify/merged_states.h"

#include <cmath>

#include "core/base/error.h"

namespace draftlab {
namespace {

// Sums of one distribution in another order differ by less.
constexpr double kRounding = 1e-9;

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= kRounding;
}

bool same_drafts(const StepRow& a, const StepRow& b) {
  if (a.drafts.size() != b.drafts.size() || a.exact != b.exact) return false;
  for (std::size_t i = 0; i < a.drafts.size(); ++i) {
    const DraftRow &one = a.drafts[i], &other = b.drafts[i];
    if (one.position != other.position || one.depth != other.depth || one.token != other.token ||
        !same(one.q, other.q) || !same(one.confidence, other.confidence) ||
        !same(one.entropy, other.entropy))
      return false;
  }
  return true;
}

bool same_verdicts(const StepRow& a, const StepRow& b) {
  if (a.tokens.size() != b.tokens.size() || a.stop != b.stop) return false;
  for (std::size_t i = 0; i < a.tokens.size(); ++i) {
    const TokenRow &one = a.tokens[i], &other = b.tokens[i];
    if (one.position != other.position || one.token != other.token || one.source != other.source)
      return false;
  }
  for (std::size_t i = 0; i < a.drafts.size(); ++i) {
    const DraftRow &one = a.drafts[i], &other = b.drafts[i];
    if (one.accepted != other.accepted || !same(one.accept, other.accept) || !same(one.p, other.p))
      return false;
  }
  return true;
}

// Returns the part that made two steps differ, in the order in which the loop asks the parts; empty
// where the steps are alike.
std::string differing_part(const Composition& parts, const StepRow& a, const StepRow& b) {
  const auto named = [](const std::string& kind, const auto& part) {
    return kind + " '" + part.name + "'";
  };
  if (a.block != b.block || a.masked != b.masked) return named("frontier", parts.frontier);
  if (!same_drafts(a, b)) return named("drafter", parts.drafter);
  if (!same(a.score, b.score) || a.routed != b.routed || a.verified != b.verified ||
      !same(a.propensity, b.propensity))
    return named("router", parts.router);
  if (!same_verdicts(a, b)) {
    if (!a.verified) return named("unmasker", parts.unmasker);
    return named("verifier", parts.verifier) + " or " + named("acceptance", parts.acceptance);
  }
  if (a.counts.nfe() != b.counts.nfe()) return named("model", parts.models.at(""));
  return "";
}

}  // namespace

void run_on(const Composition& composition, const Models& models, const Prompt& prompt,
            const MergedPair& pair) {
  EnumeratedChance first_chance(pair.first), second_chance(pair.second);
  first_chance.probe(pair.trial);
  second_chance.probe(pair.trial);
  Decoder first(composition, models, prompt, {first_chance, 0});
  Decoder second(composition, models, prompt, {second_chance, 0});
  for (int step = 0; step < pair.steps; ++step) {
    drive(models, first, first.step());
    drive(models, second, second.step());
  }
  for (int step = pair.steps; !first.done() && !second.done(); ++step) {
    drive(models, first, first.step());
    drive(models, second, second.step());
    std::string part =
        differing_part(composition, first.row().steps.back(), second.row().steps.back());
    if (part.empty() && (!same(std::log(first_chance.weight()), std::log(second_chance.weight())) ||
                         first.done() != second.done()))
      part = "a part or model";
    if (!part.empty())
      throw Fault(
          "{} leaves something out of its state(): two decodes that reached one state after step "
          "{} "
          "go on differently in step {}; certify.merge = off walks them apart, at the cost of more "
          "outcomes",
          part, pair.steps, step + 1);
  }
}

}  // namespace draftlab
