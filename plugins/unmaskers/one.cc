// Commits the first draft alone.
#include "core/parts.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

class One final : public Unmasker {
 public:
  Verdict choose(const Step&, const Proposal& proposal) const override {
    const Node& first = proposal.nodes.front();
    return {.commits = {{first.position, first.token, Source::threshold}}, .edits = {}, .why = Stop::unverified, .carry = {}, .judged = {}};
  }
  int preview(const Step&, const Proposal&) const override { return 1; }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(one) { registries.unmaskers.add<draftlab::One>("one", "commit the first draft alone"); }
