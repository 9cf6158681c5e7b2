#include "experiments/certify/certify_options.h"

#include "core/config/options.h"

namespace draftlab {

void CertifyOptions::declare(OptionSet& set) {
  set.add("expect", &expect)
      .help(
          "What the config claims: the target's own law, the law of [reference], or neither; exit "
          "status "
          "1 when it does not hold.");
  set.add("tolerance", &tolerance)
      .in(0, 1)
      .help("Total variation up to which 'lossless' and 'equal' hold.");
  set.add("visible", &visible).in(0, 1).help("Total variation above which 'lossy' holds.");
  set.add("most_outcomes", &most_outcomes)
      .in(1, 1e12)
      .help("Outcomes that may be walked; more are refused.");
  set.add("merge", &merge)
      .help("Merge equal states after each step: far fewer outcomes, the same numbers.");
  set.add("worst_nfe", &worst_nfe)
      .in(0, 1e9)
      .help("Claim that no decode needs more evaluations of the target; 0 claims nothing.");
  set.add("first_step", &first_step)
      .in(0, 1e9)
      .help(
          "Claim that the first step commits so many tokens in the mean, up to the tolerance; 0 "
          "claims nothing.");
  set.add("samples", &samples)
      .in(1000, 1e9)
      .help("Vector tokens: decodes that are sampled; what is tested of ids is enumerated.");
  set.add("alpha", &alpha)
      .in(1e-9, 0.5)
      .help(
          "Vector tokens: probability that some check of a lossless decoder fails by chance; "
          "Bonferroni's correction divides it among all statistics.");
  set.add("given", &given)
      .help(
          "Vector tokens: the law that 'lossless' means draws a token given all before it; or "
          "given what was committed before its step (verifier.density.context = parallel).");
  set.add("mean", &mean)
      .help(
          "Vector tokens: claim on the mean of the first committed coordinates, within the error "
          "of sampling; empty claims nothing.");
  set.add("acceptance", &acceptance)
      .in(0, 1)
      .help(
          "Vector tokens: claim on the share of tested drafts that are accepted, likewise; 0 "
          "claims nothing.");
}

}  // namespace draftlab
