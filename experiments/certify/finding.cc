#include "experiments/certify/finding.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/words.h"
#include "experiments/certify/certificate.h"
#include "experiments/certify/vector_certificate.h"

namespace draftlab {
namespace {

using Clock = std::chrono::steady_clock;

std::string text(const char* format, double number) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, number);
  return buffer;
}

std::string seconds_since(Clock::time_point began) {
  return text("%.2f", std::chrono::duration<double>(Clock::now() - began).count());
}

SampledFinding sampled_of(const VectorCertificate& made) {
  SampledFinding sampled{.acceptance = made.acceptance, .tokens_per_step = made.tokens_per_step};
  for (const Check& check : made.checks) {
    if (!check.of_law) continue;
    sampled.share_of_critical =
        std::max(sampled.share_of_critical, check.statistic / check.critical);
    if (check.unit == CheckUnit::distance) sampled.distance = check.statistic;
  }
  return sampled;
}

// The reference of a decoder of vectors is the target itself.
CertificateFinding of_vectors(const Composition& decoder, const std::string& name) {
  const CertifyOptions& claim = decoder.section<CertifyOptions>();
  const Clock::time_point began = Clock::now();
  Loaded loaded;
  const VectorCertificate made = certify_vectors(decoder, certified_prompt(decoder, name), loaded);
  const bool lossy = claim.expect == Claim::lossy;
  CertificateFinding finding{.claim = std::string(word(claim.expect)) + " | sampled",
                             .holds = made.lossless() != lossy && made.claims_hold(),
                             .nfe = made.nfe,
                             .sampled = sampled_of(made)};
  finding.text = name + ": " + (finding.holds ? "holds" : "DOES NOT HOLD") + " (" +
                 std::string(word(claim.expect)) + ": " + (lossy ? "some" : "no") +
                 " check of the law is beyond its critical value; alpha " +
                 text("%.3g", claim.alpha) + " over all)\n" + to_text(made) + "  seconds " +
                 seconds_since(began) + "\n";
  return finding;
}

const char* verdict(bool holds) { return holds ? "" : "; it is not"; }

// The rule and the arithmetic are told apart: the first is judged, the second is measured.
std::string law_of(const Certificate& made) {
  const CertifyOptions& claim = made.claim;
  const bool lossy = claim.expect == Claim::lossy;
  const std::string rule = "\n  rule             total variation " + text("%.3g", made.variation) +
                           " from the " + std::string(word(made.law.law)) + " law (" +
                           std::string(word(claim.expect)) + (lossy ? ": above " : ": at most ") +
                           text("%.3g", lossy ? claim.visible : claim.tolerance) +
                           verdict(made.exact()) + ")\n  arithmetic       ";
  const Arithmetic& arithmetic = made.arithmetic;
  if (arithmetic.largest == 0)
    return rule + "a question that was asked again had the same answer, to the last bit";
  return rule + "answers to one question differ by up to " + text("%.2g", arithmetic.largest) +
         " (unit roundoff " + text("%.2g", arithmetic.unit) + "; up to " +
         text("%.2g", arithmetic.bound()) +
         " is rounding), which moves the law of a text by up to " +
         text("%.2g", made.unknown * arithmetic.largest);
}

std::string cost_of(const Certificate& made) {
  const Outcomes& outcomes = made.outcomes;
  const CertifyOptions& claim = made.claim;
  std::string cost = "\n  NFE              expected " + text("%.4f", outcomes.expected_nfe) +
                     ", worst case " + std::to_string(outcomes.worst_nfe);
  if (claim.worst_nfe > 0)
    cost += " (claimed: at most " + std::to_string(claim.worst_nfe) + verdict(made.fast()) + ")";
  cost += "\n  first step       " + text("%.12g", outcomes.first_step) + " tokens";
  if (claim.first_step > 0)
    cost += " (claimed: " + text("%.12g", claim.first_step) + verdict(made.committed()) + ")";
  return cost;
}

CertificateFinding of_tokens(const Composition& decoder, const std::string& name) {
  const Clock::time_point began = Clock::now();
  const Certificate made = certificate_of(decoder, name);
  const Outcomes& outcomes = made.outcomes;
  return {.claim = std::string(word(made.claim.expect)) + " | " + std::string(word(made.law.law)),
          .holds = made.holds(),
          .variation = made.variation,
          .nfe = outcomes.expected_nfe,
          .worst = outcomes.worst_nfe,
          .text = name + ": " + (made.holds() ? "holds" : "DOES NOT HOLD") + law_of(made) +
                  cost_of(made) + "\n  outcomes         " + std::to_string(outcomes.walked) +
                  " walked, " + std::to_string(outcomes.merged) + " merged (" +
                  std::to_string(outcomes.compared) + " of them run on, alike), mass dropped " +
                  text("%.2g", outcomes.dropped) + "\n  reference        " +
                  std::to_string(made.reference.probability.size()) +
                  " texts, the model asked about " + std::to_string(made.reference.asked) +
                  " states\n  seconds          " + seconds_since(began) + "\n"};
}

}  // namespace

CertificateFinding finding_of(const Composition& decoder, const std::string& name,
                              const Registries& registries) {
  const std::vector<Form>& forms = registries.models.find(decoder.models.at("").name)->forms;
  const bool vectors = std::count(forms.begin(), forms.end(), Form::reverse) > 0;
  return vectors ? of_vectors(decoder, name) : of_tokens(decoder, name);
}

std::string to_bytes(const CertificateFinding& finding) {
  nlohmann::json json = {finding.claim, finding.holds, finding.variation,
                         finding.nfe,   finding.worst, finding.text};
  if (const auto& of = finding.sampled)
    json.push_back({of->distance, of->share_of_critical, of->acceptance, of->tokens_per_step});
  std::string bytes;
  nlohmann::json::to_msgpack(json, bytes);  // It keeps numbers to the last bit.
  return bytes;
}

CertificateFinding finding_from(const std::string& bytes) {
  const nlohmann::json json = nlohmann::json::from_msgpack(bytes);
  CertificateFinding finding{.claim = json.at(0),
                             .holds = json.at(1),
                             .variation = json.at(2),
                             .nfe = json.at(3),
                             .worst = json.at(4),
                             .text = json.at(5)};
  constexpr std::size_t kSampled = 6;
  if (json.size() > kSampled) {
    const nlohmann::json& of = json.at(kSampled);
    finding.sampled = SampledFinding{of.at(0), of.at(1), of.at(2), of.at(3)};
  }
  return finding;
}

}  // namespace draftlab
