#include "experiments/certify/vector_certificate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "core/base/progress.h"
#include "core/config/composition.h"
#include "experiments/certify/certify_options.h"
#include "experiments/certify/vector_referee.h"
#include "plugins/models/toy/known_joint.h"

namespace draftlab {
namespace {

// So many decodes check that the target accepts its own drafts.
constexpr std::int64_t kSelfDrafted = 2000;

// Decodes with random numbers of its own.
class Sampler {
 public:
  Sampler(const Composition& composition, const Prompt& prompt, Loaded& loaded)
      : composition_(composition),
        prompt_(prompt),
        models_(load_models(composition, composition.run.machine, loaded)) {}

  const Models& models() const { return models_; }

  // Calls seen(decoder) after every step, at most `steps` of them.
  template <class Seen>
  void decode(std::int64_t sample, int steps, Seen seen) const {
    SampledChance chance(static_cast<std::uint64_t>(composition_.run.seed));
    Decoder decoder(composition_, models_, prompt_,
                    stable_hash(prompt_.id + "/" + std::to_string(sample)), chance);
    for (int step = 0; step < steps && drive(models_, decoder, decoder.step()); ++step)
      seen(decoder);
  }

 private:
  const Composition& composition_;
  const Prompt& prompt_;
  Models models_;
};

// Says whether a draft was tested, and reached.
bool tested(const Judged& judged) {
  return judged.reached && !std::isnan(judged.vector.log_target);
}

// Estimates the probability that the first draft of a decode is accepted.
Tally first_acceptance(const Sampler& sampler, std::int64_t samples) {
  Tally tally;
  for (std::int64_t i = 0; i < samples; ++i) {
    sampler.decode(i, 1, [&](const Decoder& decoder) {
      const std::vector<Judged>& judged = decoder.verdict().judged;
      if (!judged.empty() && tested(judged.front())) tally.add(judged.front().accept);
    });
  }
  return tally;
}

void check_overlap(const Composition& composition, const Prompt& prompt, Loaded& loaded,
                   const Tally& probability, const Tally& accepted, std::vector<Check>& checks) {
  if (probability.count == 0) return;
  const double error = std::sqrt(std::max(0.0, accepted.mean() * (1 - accepted.mean())) /
                                 static_cast<double>(accepted.count));
  checks.push_back({.name = "share of first drafts accepted, against their probability, in errors",
                    .samples = accepted.count,
                    .statistic = errors_apart(accepted.mean(), probability.mean(), error)});
  if (!composition.models.contains("draft")) return;
  Composition exchanged = composition;
  std::swap(exchanged.models.at(""), exchanged.models.at("draft"));
  // Only the first draft is looked at.
  exchanged.decode.draft_length = 1;
  const Tally other = first_acceptance(Sampler(exchanged, prompt, loaded),
                                       composition.section<CertifyOptions>().samples);
  checks.push_back({.name = "overlap E_q min(1, p/q) = E_p min(1, q/p), in errors",
                    .samples = other.count,
                    .statistic = errors_apart(probability.mean(), other.mean(),
                                              std::hypot(probability.error(), other.error()))});
}

std::string option_of(const std::vector<std::pair<std::string, std::string>>& values,
                      const std::string& name) {
  for (const auto& [option, value] : values)
    if (option == name) return value;
  return {};
}

// Checks drafts of one token, so that draft and target see the same. Where their noise is not
// shared, two draws of one law differ.
void check_self(const Composition& composition, const Prompt& prompt, Loaded& loaded,
                std::vector<Check>& checks) {
  if (!composition.models.contains("draft") ||
      option_of(composition.verifier.values, "aligned") == "false")
    return;
  Composition self = composition;
  self.models.at("draft") = self.models.at("");
  self.decode.draft_length = 1;
  const Sampler sampler(self, prompt, loaded);
  Check check{
      .name = "drafts of the target itself that are rejected", .samples = 0, .of_law = false};
  for (std::int64_t i = 0; i < kSelfDrafted; ++i) {
    sampler.decode(i, prompt.length, [&](const Decoder& decoder) {
      for (const Judged& judged : decoder.verdict().judged)
        if (tested(judged)) ++check.samples, check.statistic += !judged.accepted;
    });
  }
  checks.push_back(check);
}

}  // namespace

bool VectorCertificate::lossless() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const Check& check) { return !check.of_law || check.passes(); });
}

bool VectorCertificate::claims_hold() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.of_law || check.passes(); });
}

VectorCertificate certify_vectors(const Composition& composition, const Prompt& prompt,
                                  Loaded& loaded) {
  const CertifyOptions& claim = composition.section<CertifyOptions>();
  const Sampler sampler(composition, prompt, loaded);
  Model& target = sampler.models().target();
  Referee referee(composition, prompt, target);
  const auto* const known = dynamic_cast<const KnownJoint*>(&target);
  const bool joint = known && claim.given == Given::tokens && prompt.given.size() == 1;

  VectorCertificate certificate;
  std::vector<std::vector<double>> normals(static_cast<std::size_t>(claim.samples));
  std::vector<Eigen::VectorXd> tokens;
  std::vector<Tally> means(claim.mean.size());
  Tally first_probability, first_accepted, accepted, proposals, per_step, nfe;
  Progress progress("certifying", "decodes", claim.samples);
  for (std::int64_t i = 0; i < claim.samples; ++i) {
    Decoded decoded;
    int step = 0;
    std::int64_t calls = 0;
    sampler.decode(i, prompt.length, [&](const Decoder& decoder) {
      const Verdict& verdict = decoder.verdict();
      for (const Commit& commit : verdict.commits) decoded.tokens.push_back({commit, step});
      for (const Judged& judged : verdict.judged) {
        if (!tested(judged)) continue;
        accepted.add(judged.accepted);
        proposals.add(judged.vector.proposals);
        certificate.capped += judged.vector.capped;
      }
      if (step == 0 && !verdict.judged.empty() && tested(verdict.judged.front())) {
        first_probability.add(verdict.judged.front().accept);
        first_accepted.add(verdict.judged.front().accepted);
      }
      per_step.add(static_cast<double>(verdict.commits.size()));
      calls = decoder.nfe();
      ++step;
    });
    nfe.add(static_cast<double>(calls));
    referee.innovations(decoded, normals[static_cast<std::size_t>(i)]);
    Eigen::VectorXd laid(0);
    for (const Decoded::Token& token : decoded.tokens) {
      laid.conservativeResize(laid.size() + token.commit.value.size());
      laid.tail(token.commit.value.size()) = token.commit.value;
    }
    for (std::size_t j = 0; j < means.size() && static_cast<Eigen::Index>(j) < laid.size(); ++j)
      means[j].add(laid[static_cast<Eigen::Index>(j)]);
    if (joint) tokens.push_back(std::move(laid));
    progress.at(i + 1);
  }

  std::vector<Check>& checks = certificate.checks;
  check_innovations(normals, checks);
  if (joint)
    check_moments(tokens,
                  known->joint(prompt.given.front().second, prompt.length - 1,
                               composition.decode.sampling.temperature),
                  checks);
  check_overlap(composition, prompt, loaded, first_probability, first_accepted, checks);
  // This mode mirrors more than it draws.
  if (accepted.count > 0 && option_of(composition.verifier.values, "mode") != "reflection")
    checks.push_back({.name = "proposals a tested draft, against 1, in errors",
                      .samples = proposals.count,
                      .statistic = errors_apart(proposals.mean(), 1, proposals.error())});
  check_self(composition, prompt, loaded, checks);
  for (std::size_t j = 0; j < means.size(); ++j)
    checks.push_back({.name = "claimed mean of coordinate " + std::to_string(j) + ", in errors",
                      .samples = means[j].count,
                      .statistic = errors_apart(means[j].mean(), claim.mean[j], means[j].error()),
                      .of_law = false});
  if (claim.acceptance > 0)
    checks.push_back(
        {.name = "claimed acceptance, in errors",
         .samples = accepted.count,
         .statistic = errors_apart(accepted.mean(), claim.acceptance, accepted.error()),
         .of_law = false});
  correct(checks, claim.alpha);

  certificate.tested = accepted.count;
  certificate.acceptance = accepted.mean();
  certificate.proposals = proposals.mean();
  certificate.tokens_per_step = per_step.mean();
  certificate.nfe = nfe.mean();
  for (std::size_t j = 0; j < means.size(); ++j) certificate.means.push_back(means[j].mean());
  return certificate;
}

std::string to_text(const VectorCertificate& certificate) {
  std::string text;
  char line[256];
  std::snprintf(line, sizeof line, "  %-70s %10s %12s %10s %10s\n", "check", "statistics",
                "samples", "largest", "critical");
  text += line;
  for (const Check& check : certificate.checks) {
    std::snprintf(line, sizeof line, "  %-70s %10d %12lld %10.4g %10.4g%s\n", check.name.c_str(),
                  check.statistics, static_cast<long long>(check.samples), check.statistic,
                  check.critical, check.passes() ? "" : "  beyond");
    text += line;
  }
  std::snprintf(
      line, sizeof line,
      "  acceptance %.4f, proposals %.4f a tested draft, of %lld, %lld capped; %.4f tokens a step; "
      "NFE %.4f a decode\n",
      certificate.acceptance, certificate.proposals, static_cast<long long>(certificate.tested),
      static_cast<long long>(certificate.capped), certificate.tokens_per_step, certificate.nfe);
  text += line;
  for (std::size_t j = 0; j < certificate.means.size(); ++j) {
    std::snprintf(line, sizeof line, "  mean of coordinate %zu: %.4f\n", j, certificate.means[j]);
    text += line;
  }
  return text;
}

}  // namespace draftlab
