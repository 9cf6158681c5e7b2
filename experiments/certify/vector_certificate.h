// Checks by sampling that a decoder of vectors is lossless, because its outcomes cannot be
// enumerated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "experiments/certify/vector_statistics.h"

namespace draftlab {

struct VectorCertificate {
  std::vector<Check> checks;
  // The share of tested drafts that are accepted, and the mean proposals a tested draft.
  double acceptance = 0, proposals = 0;
  double tokens_per_step = 0, nfe = 0;
  // The means of the coordinates that certify.mean names.
  std::vector<double> means;
  std::int64_t tested = 0, capped = 0;
  // Says whether every check of the law passes.
  bool lossless() const;
  // Says whether every other check passes.
  bool claims_hold() const;
};

// Decodes certify.samples times on the config's first prompt and compares what was committed with
// the target, which is asked anew:
//   - innovations: what each state of each committed token is under the target's law, mapped back
//     to standard normals; checked are their distribution (Kolmogorov-Smirnov), and correlations of
//     them and of their squares.
//   - moments: mean and covariance of the tokens, where the model knows their joint law.
//   - overlap: E_q min(1, p/q) = E_p min(1, q/p), the first draft's acceptance with draft and
//     target exchanged, and as measured.
//   - proposals: a rejected draft's replacement takes 1 / P(rejection) draws, so a tested draft
//     takes 1 in the mean.
//   - self: a draft model that is the target is always accepted, where it shares its noise.
// It also checks the claims certify.mean and certify.acceptance.
VectorCertificate certify_vectors(const Composition& composition, const Prompt& prompt,
                                  Loaded& loaded);

// Returns the text below a certificate's first line.
std::string to_text(const VectorCertificate& certificate);

}  // namespace draftlab
