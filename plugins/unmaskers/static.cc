// Static decoding: the step's quota of drafts, the most confident ones (S2D2, Sec. 3).
#include "plugins/builtin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class Static final : public QuotaUnmasker {
 public:
  explicit Static(const Options& options) : QuotaUnmasker(options) {}

 private:
  int sure(const DecodeOptions&, std::vector<Draft>&) const override { return 0; }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(static_quota) {
  registries.unmaskers.add<draftlab::Static>("static", "the step's quota of drafts, the most confident ones");
}
