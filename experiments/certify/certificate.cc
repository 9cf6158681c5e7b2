#include "experiments/certify/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "core/base/progress.h"
#include "core/base/words.h"

namespace draftlab {
namespace {

// Walking so many outcomes takes more than a few seconds, so that a progress line is shown.
constexpr std::int64_t kLongWalk = 200000;

// Walks the decoder's outcomes. `name` says in a refusal which decoder it was.
Outcomes walk(const Composition& decoder, const Models& models, const Prompt& prompt,
              const std::string& name) {
  const CertifyOptions& options = decoder.section<CertifyOptions>();
  const double estimate = estimated_outcomes(decoder, models, prompt, options.merge);
  if (estimate > static_cast<double>(options.most_outcomes)) {
    throw ConfigError(
        "{} has about {:.2g} outcomes to walk, more than certify.most_outcomes = {}; use fewer "
        "tokens or unknown positions, or raise it",
        name, estimate, options.most_outcomes);
  }
  const auto about = static_cast<std::int64_t>(estimate);
  std::optional<Progress> progress;
  if (about > kLongWalk) progress.emplace("certifying", "outcomes", about);
  return enumerate(
      decoder, models, prompt,
      {.merge = options.merge, .most = options.most_outcomes, .progress = [&](std::int64_t walked) {
         if (progress) progress->at(std::min(walked, about));
       }});
}

// "Lossless" is said of the target's own law alone.
void check_claim(const CertifyOptions& claim, const ReferenceOptions& reference) {
  if (claim.expect != Claim::lossless || reference.law == ReferenceLaw::sequential) return;
  throw ConfigError(
      "certify.expect = lossless claims the target's own law, and reference.law = {} is another; "
      "the claim is: certify.expect = equal",
      word(reference.law));
}

}  // namespace

bool Certificate::exact() const {
  return claim.expect == Claim::lossy ? variation > claim.visible : variation <= claim.tolerance;
}

bool Certificate::fast() const {
  return claim.worst_nfe == 0 || outcomes.worst_nfe <= claim.worst_nfe;
}

bool Certificate::committed() const {
  return claim.first_step == 0 ||
         std::abs(outcomes.first_step - claim.first_step) <= claim.tolerance;
}

Prompt certified_prompt(const Composition& decoder, const std::string& name) {
  const std::unique_ptr<Task> task = decoder.task.make();
  task->load(nullptr);
  if (decoder.run.first >= task->size())
    throw ConfigError("{}: run.first = {}, but the task has {} prompts", name, decoder.run.first,
                      task->size());
  return task->prompt(static_cast<int>(decoder.run.first));
}

Certificate certificate_of(const Composition& decoder, const std::string& name) {
  Certificate made;
  made.claim = decoder.section<CertifyOptions>();
  made.law = decoder.section<ReferenceOptions>();
  check_claim(made.claim, made.law);
  Loaded loaded;
  const SteadyModels steadied = steady(load_models(decoder, decoder.run.machine, loaded));
  const Prompt prompt = certified_prompt(decoder, name);
  made.outcomes = walk(decoder, steadied.models, prompt, name);
  made.reference = reference_law(decoder, steadied.models, prompt, made.claim.most_outcomes);
  made.arithmetic = *steadied.arithmetic;
  made.variation = total_variation(made.outcomes.probability, made.reference.probability);
  made.unknown = prompt.length - static_cast<int>(prompt.given.size());
  return made;
}

}  // namespace draftlab
