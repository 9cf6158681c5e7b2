// Losslessness of a decoder of vectors, by sampling: its outcomes cannot be enumerated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/composition.h"
#include "core/loop/decoder.h"

namespace draftlab {

// One statistic, or the largest of several of one kind, against what it exceeds with a probability
// that Bonferroni's correction makes small enough.
struct Check {
  std::string name;
  std::int64_t samples = 0;
  int statistics = 1;  // of which `statistic` is the largest
  double statistic = 0, critical = 0;
  bool of_law =
      true;  // whether a lossy decoder may fail it; false: a claim that must hold for either
  bool passes() const { return statistic <= critical; }
};

struct VectorCertificate {
  std::vector<Check> checks;
  double acceptance = 0, proposals = 0;  // shares and means a tested draft
  double tokens_per_step = 0, nfe = 0;
  std::vector<double> means;  // of the coordinates that certify.mean names
  std::int64_t tested = 0, capped = 0;
  bool lossless() const;     // every check of the law passes
  bool claims_hold() const;  // every other one does
};

// Decodes certify.samples times on the config's first prompt and holds what was committed against
// the target, which is asked anew:
//   innovations  what each state of each committed token is under the target's law, mapped back to
//   standard normals: their
//                distribution (Kolmogorov-Smirnov), and correlations of them and of their squares
//   moments      mean and covariance of the tokens, where the model knows their joint law
//   overlap      E_q min(1, p/q) = E_p min(1, q/p): the first draft's acceptance with draft and
//   target exchanged, and as measured proposals    a rejected draft's replacement takes 1 /
//   P(rejection) draws, so a tested draft 1 in the mean self         a draft model that is the
//   target is always accepted, where it shares its noise
// and the claims certify.mean and certify.acceptance.
VectorCertificate certify_vectors(const Composition& composition, const Prompt& prompt,
                                  Loaded& loaded);

// The text below a certificate's first line.
std::string to_text(const VectorCertificate& certificate);

}  // namespace draftlab
