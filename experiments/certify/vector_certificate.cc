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
                    {chance, stable_hash(prompt_.id + "/" + std::to_string(sample))});
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

std::string option_of(const std::vector<std::pair<std::string, std::string>>& values,
                      const std::string& name) {
  for (const auto& [option, value] : values)
    if (option == name) return value;
  return {};
}

// What the decodes of a certificate are counted for.
struct MeasuredLaw {
  std::vector<std::vector<double>> normals;
  // The tokens of each decode, one behind the other, where their joint law is known.
  std::vector<Eigen::VectorXd> tokens;
  std::vector<Tally> means;
  Tally first_probability, first_accepted, accepted, proposals, per_step, nfe;
  std::int64_t capped = 0;

  void add(const Judged& judged) {
    accepted.add(judged.accepted);
    proposals.add(judged.vector.proposals);
    capped += judged.vector.capped;
  }
  void add_first(const Judged& judged) {
    first_probability.add(judged.accept);
    first_accepted.add(judged.accepted);
  }
  void add_means(const Eigen::VectorXd& laid) {
    for (std::size_t j = 0; j < means.size() && static_cast<Eigen::Index>(j) < laid.size(); ++j)
      means[j].add(laid[static_cast<Eigen::Index>(j)]);
  }
};

// Makes the certificate of one decoder.
class Certifier {
 public:
  Certifier(const Composition& composition, const Prompt& prompt, Loaded& loaded)
      : composition_(composition),
        claim_(composition.section<CertifyOptions>()),
        prompt_(prompt),
        loaded_(loaded),
        sampler_(composition, prompt, loaded),
        known_(dynamic_cast<const KnownJoint*>(&sampler_.models().target())),
        joint_(known_ && claim_.given == Given::tokens && prompt.given.size() == 1) {}

  VectorCertificate make() {
    measure();
    check_law();
    check_self();
    check_claims();
    correct(certificate_.checks, claim_.alpha);
    certificate_.tested = measured_.accepted.count;
    certificate_.capped = measured_.capped;
    certificate_.acceptance = measured_.accepted.mean();
    certificate_.proposals = measured_.proposals.mean();
    certificate_.tokens_per_step = measured_.per_step.mean();
    certificate_.nfe = measured_.nfe.mean();
    for (const Tally& mean : measured_.means) certificate_.means.push_back(mean.mean());
    return std::move(certificate_);
  }

 private:
  void measure() {
    Referee referee(composition_, prompt_, sampler_.models().target());
    measured_.normals.resize(static_cast<std::size_t>(claim_.samples));
    measured_.means.resize(claim_.mean.size());
    Progress progress("certifying", "decodes", claim_.samples);
    for (std::int64_t i = 0; i < claim_.samples; ++i) {
      const Decoded decoded = decode(i);
      referee.innovations(decoded, measured_.normals[static_cast<std::size_t>(i)]);
      Eigen::VectorXd laid(0);
      for (const Decoded::Token& token : decoded.tokens) {
        laid.conservativeResize(laid.size() + token.commit.value.size());
        laid.tail(token.commit.value.size()) = token.commit.value;
      }
      measured_.add_means(laid);
      if (joint_) measured_.tokens.push_back(std::move(laid));
      progress.at(i + 1);
    }
  }

  // Decodes once, and counts what was drafted, accepted and asked.
  Decoded decode(std::int64_t sample) {
    Decoded decoded;
    int step = 0;
    std::int64_t calls = 0;
    sampler_.decode(sample, prompt_.length, [&](const Decoder& decoder) {
      const Verdict& verdict = decoder.verdict();
      for (const Commit& commit : verdict.commits) decoded.tokens.push_back({commit, step});
      for (const Judged& judged : verdict.judged)
        if (tested(judged)) measured_.add(judged);
      if (step == 0 && !verdict.judged.empty() && tested(verdict.judged.front()))
        measured_.add_first(verdict.judged.front());
      measured_.per_step.add(static_cast<double>(verdict.commits.size()));
      calls = decoder.nfe();
      ++step;
    });
    measured_.nfe.add(static_cast<double>(calls));
    return decoded;
  }

  void check_law() {
    std::vector<Check>& checks = certificate_.checks;
    check_innovations(measured_.normals, checks);
    if (joint_)
      check_moments(measured_.tokens,
                    known_->joint(prompt_.given.front().second, prompt_.length - 1,
                                  composition_.decode.sampling.temperature),
                    checks);
    check_overlap();
    const Tally& proposals = measured_.proposals;
    // This mode mirrors more than it draws.
    if (measured_.accepted.count > 0 &&
        option_of(composition_.verifier.values, "mode") != "reflection")
      checks.push_back({.name = "proposals a tested draft, against 1, in errors",
                        .samples = proposals.count,
                        .statistic = errors_apart(proposals.mean(), 1, proposals.error())});
  }

  void check_overlap() {
    const Tally &probability = measured_.first_probability, &accepted = measured_.first_accepted;
    std::vector<Check>& checks = certificate_.checks;
    if (probability.count == 0) return;
    const double error = std::sqrt(std::max(0.0, accepted.mean() * (1 - accepted.mean())) /
                                   static_cast<double>(accepted.count));
    checks.push_back(
        {.name = "share of first drafts accepted, against their probability, in errors",
         .samples = accepted.count,
         .statistic = errors_apart(accepted.mean(), probability.mean(), error)});
    if (!composition_.models.contains("draft")) return;
    Composition exchanged = composition_;
    std::swap(exchanged.models.at(""), exchanged.models.at("draft"));
    // Only the first draft is looked at.
    exchanged.decode.draft_length = 1;
    const Tally other = first_acceptance(Sampler(exchanged, prompt_, loaded_), claim_.samples);
    checks.push_back({.name = "overlap E_q min(1, p/q) = E_p min(1, q/p), in errors",
                      .samples = other.count,
                      .statistic = errors_apart(probability.mean(), other.mean(),
                                                std::hypot(probability.error(), other.error()))});
  }

  // Checks drafts of one token, so that draft and target see the same. Where their noise is not
  // shared, two draws of one law differ.
  void check_self() {
    if (!composition_.models.contains("draft") ||
        option_of(composition_.verifier.values, "aligned") == "false")
      return;
    Composition self = composition_;
    self.models.at("draft") = self.models.at("");
    self.decode.draft_length = 1;
    const Sampler sampler(self, prompt_, loaded_);
    Check check{.name = "drafts of the target itself that are rejected",
                .unit = CheckUnit::cases,
                .of_law = false};
    for (std::int64_t i = 0; i < kSelfDrafted; ++i) {
      sampler.decode(i, prompt_.length, [&](const Decoder& decoder) {
        for (const Judged& judged : decoder.verdict().judged)
          if (tested(judged)) ++check.samples, check.statistic += !judged.accepted;
      });
    }
    certificate_.checks.push_back(check);
  }

  void check_claims() {
    const std::vector<Tally>& means = measured_.means;
    for (std::size_t j = 0; j < means.size(); ++j)
      add_claim("mean of coordinate " + std::to_string(j), claim_.mean[j], means[j]);
    if (claim_.acceptance > 0) add_claim("acceptance", claim_.acceptance, measured_.accepted);
  }
  void add_claim(const std::string& what, double claimed, const Tally& tally) {
    certificate_.checks.push_back({.name = "claimed " + what + ", in errors",
                                   .samples = tally.count,
                                   .statistic = errors_apart(tally.mean(), claimed, tally.error()),
                                   .of_law = false});
  }

  const Composition& composition_;
  const CertifyOptions& claim_;
  const Prompt& prompt_;
  Loaded& loaded_;
  const Sampler sampler_;
  const KnownJoint* const known_;
  // Whether the joint law of the tokens is known.
  const bool joint_;
  MeasuredLaw measured_;
  VectorCertificate certificate_;
};

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
  return Certifier(composition, prompt, loaded).make();
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
