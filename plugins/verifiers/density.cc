// Judges drafts that are vectors by the ratio of their densities (continuous speculative decoding,
// CSpD), in exact forms. The target's head either follows the draft's path or has one of its own
// from the same noise; `k` is the number of last reverse steps that are judged. The modes are:
//   - k-split: noise is shared down to x_k, and the path from there is judged on the draft's own
//     states: log r = log p(y_{k-1} | x_k^p) / q(y_{k-1} | x_k^q)
//       + sum_{t<k} log p(y_{t-1} | y_t) / q(y_{t-1} | y_t).
//     It is exact for every k: given the noise, it is the ratio test between two laws of one path.
//   - closed-form: the same for a head with one reverse step, whatever its mixture.
//   - reflection: a maximal coupling of each reverse step in turn.
// The published rules are controls (plugins/controls/density_published.cc).
#include "core/config/plugin.h"
#include "plugins/verifiers/density_verifier.h"

namespace draftlab {
namespace {

class Density final : public DensityVerifier {
 public:
  using Options = DensityOptions;
  explicit Density(const Options& options) : DensityVerifier(options) {}
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, density) {
  registries.verifiers.add<draftlab::Density>(
      "density", "vector tokens by the ratio of their densities, in exact forms (CSpD); lossless");
}
