#include "experiments/certify/certify.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>

#include "core/base/progress.h"
#include "core/base/words.h"
#include "core/config/sweep_cells.h"
#include "experiments/certify/certify_options.h"
#include "experiments/certify/enumeration.h"
#include "experiments/certify/vector_certificate.h"

namespace draftlab {
namespace {

// Walking so many outcomes takes more than a few seconds, so that a progress line is shown.
constexpr std::int64_t kLongWalk = 200000;

std::string text(const char* format, double number) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, number);
  return buffer;
}

// Returns the prompt that is certified.
Prompt first_prompt(const Composition& composition, const std::string& name) {
  const std::unique_ptr<Task> task = composition.task.make();
  task->load(nullptr);
  if (composition.run.first >= task->size())
    throw ConfigError("{}: run.first = {}, but the task has {} prompts", name,
                      composition.run.first, task->size());
  return task->prompt(static_cast<int>(composition.run.first));
}

struct Walk {
  Outcomes outcomes;
  double estimate = 0;
};

// Walks the decoder's outcomes on the config's first prompt. `name` says in a refusal which decoder
// it was.
Walk walk(const Composition& composition, const std::string& name, Loaded& loaded) {
  const CertifyOptions& options = composition.section<CertifyOptions>();
  const Models models = load_models(composition, composition.run.machine, loaded);
  const Prompt prompt = first_prompt(composition, name);

  Walk walk;
  walk.estimate = estimated_outcomes(composition, models, prompt, options.merge);
  if (walk.estimate > static_cast<double>(options.most_outcomes)) {
    throw ConfigError(
        "{} has about {} outcomes to walk, more than certify.most_outcomes = {}; use fewer tokens "
        "or unknown positions, or raise it",
        name, text("%.2g", walk.estimate), options.most_outcomes);
  }
  const auto about = static_cast<std::int64_t>(walk.estimate);
  std::optional<Progress> progress;
  if (about > kLongWalk) progress.emplace("certifying", "outcomes", about);
  walk.outcomes = enumerate(composition, models, prompt, options.merge, options.most_outcomes,
                            [&](std::int64_t walked) {
                              if (progress) progress->at(std::min(walked, about));
                            });
  return walk;
}

// Makes the certificate of a decoder of vectors, whose reference is the target itself.
bool certify_vectors(const Composition& decoder, const std::string& name) {
  const CertifyOptions& claim = decoder.section<CertifyOptions>();
  const auto began = std::chrono::steady_clock::now();
  Loaded loaded;
  const VectorCertificate certificate =
      certify_vectors(decoder, first_prompt(decoder, name), loaded);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const bool holds =
      certificate.lossless() == (claim.expect == Claim::lossless) && certificate.claims_hold();
  std::cout << name << ": " << (holds ? "holds" : "DOES NOT HOLD") << " (" << word(claim.expect)
            << ": " << (claim.expect == Claim::lossless ? "no" : "some")
            << " check of the law is beyond its critical value; alpha " << text("%.3g", claim.alpha)
            << " over all)\n"
            << to_text(certificate) << "  seconds " << text("%.2f", seconds) << "\n";
  return holds;
}

// Prints the certificate of one cell. Returns whether its claims hold.
bool certify_cell(const Cell& cell, const std::string& name, const Registries& registries) {
  Faults faults;
  const Composition decoder = compose(cell.config, registries, faults);
  faults.raise();
  const std::vector<Form>& forms = registries.models.find(decoder.models.at("").name)->forms;
  if (std::count(forms.begin(), forms.end(), Form::reverse)) return certify_vectors(decoder, name);
  const Composition reference = compose(reference_of(cell.config), registries, faults);
  faults.raise();
  const CertifyOptions& claim = decoder.section<CertifyOptions>();

  const auto began = std::chrono::steady_clock::now();
  Loaded loaded;
  const Walk walked = walk(decoder, name, loaded),
             expected = walk(reference, name + " [reference]", loaded);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const Outcomes& outcomes = walked.outcomes;

  const double variation = total_variation(outcomes, expected.outcomes);
  const bool lossless = claim.expect == Claim::lossless;
  const bool exact = lossless ? variation <= claim.tolerance : variation > claim.visible;
  const bool fast = claim.worst_nfe == 0 || outcomes.worst_nfe <= claim.worst_nfe;
  const bool committed =
      claim.first_step == 0 || std::abs(outcomes.first_step - claim.first_step) <= claim.tolerance;
  std::cout << name << ": " << (exact && fast && committed ? "holds" : "DOES NOT HOLD")
            << "\n  total variation  " << text("%.3g", variation) << "  (" << word(claim.expect)
            << (lossless ? ": at most " : ": above ")
            << text("%.3g", lossless ? claim.tolerance : claim.visible)
            << (exact ? ")" : "; it is not)") << "\n  NFE              expected "
            << text("%.4f", outcomes.expected_nfe) << ", worst case " << outcomes.worst_nfe;
  if (claim.worst_nfe > 0)
    std::cout << " (claimed: at most " << claim.worst_nfe << (fast ? ")" : "; it is not)");
  std::cout << "\n  first step       " << text("%.12g", outcomes.first_step) << " tokens";
  if (claim.first_step > 0)
    std::cout << " (claimed: " << text("%.12g", claim.first_step)
              << (committed ? ")" : "; it is not)");
  std::cout << "\n  reference        expected " << text("%.4f", expected.outcomes.expected_nfe)
            << ", worst case " << expected.outcomes.worst_nfe << "\n  outcomes         "
            << outcomes.walked << " walked (estimated " << text("%.0f", walked.estimate) << "), "
            << outcomes.merged << " merged (" << outcomes.compared
            << " of them run on, alike), mass dropped " << text("%.2g", outcomes.dropped)
            << "; reference " << expected.outcomes.walked << " walked\n  seconds          "
            << text("%.2f", seconds) << "\n";
  return exact && fast && committed;
}

int certify(const CommandLine& line, const Registries& registries) {
  bool hold = true;
  for (const std::string& path : line.paths) {
    Faults faults;
    const Config config = Config::read(path, line.overrides, faults);
    faults.raise();
    const std::vector<Cell> cells = expand_claims(config, registries, faults);
    faults.raise();
    for (const Cell& cell : cells)
      hold &= certify_cell(cell, cell.label.empty() ? path : path + " " + cell.label, registries);
  }
  return hold ? 0 : 1;
}

}  // namespace

Command certify_command() {
  return {.name = "certify",
          .arguments = "CONFIG...",
          .summary =
              "the exact output distribution against its reference, expected and worst-case cost",
          .most = kAnyNumber,
          .takes_config = true,
          .flags = without_flags(certify)};
}

}  // namespace draftlab
