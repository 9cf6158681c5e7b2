// Judges drafts as a whole: a late draft that the target likes can rescue an early one that it does
// not. On one path this is block verification (Sun et al., 2025), which accepts the most of all
// rules that know only conditionals; on a tree it is traversal verification (Weng et al., 2025).
// Lossless, and never below `chain` in what it accepts; drafts that are point masses gain nothing.
#include "core/config/plugin.h"
#include "plugins/verifiers/block_walk.h"
#include "plugins/verifiers/paths.h"

namespace draftlab {
namespace {

class Block final : public BlockVerifier {
 public:
  using Options = BonusOption;
  explicit Block(const Options& options)
      : BlockVerifier(options.bonus, std::make_unique<BlockRule>()) {}
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, block) {
  registries.verifiers.add<draftlab::Block>(
      "block",
      "a path, or a tree from its leaves, judged as a whole (block and traversal verification); "
      "lossless");
}
