// Dynamic decoding: every draft of probability above decode.threshold, the most confident ones where these do not meet the step's
// quota (S2D2, Sec. 3).
#include <algorithm>

#include "plugins/builtin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class Threshold final : public QuotaUnmasker {
 public:
  explicit Threshold(const Options& options) : QuotaUnmasker(options) {}

 private:
  int sure(const DecodeOptions& decode, std::vector<Draft>& drafts) const override {
    return static_cast<int>(std::count_if(drafts.begin(), drafts.end(), [&](const Draft& draft) { return draft.confidence > decode.threshold; }));
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(threshold) {
  registries.unmaskers.add<draftlab::Threshold>("threshold", "drafts more probable than decode.threshold, at least the step's quota (dynamic decoding)");
}
