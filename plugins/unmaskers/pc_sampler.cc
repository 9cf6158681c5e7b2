// PC-Sampler (Huang et al., 2025): drafts go by exp(-decay i) min(most, -p log f), with i the place
// in the block, p the draft's confidence and f how frequent its token is in a corpus. So early
// positions go first, and tokens that are likely anywhere go late. It is an order, like those of
// `static`: each step commits its quota.
#include <cmath>

#include "core/config/plugin.h"
#include "core/parts/corpus.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

class PcSampler final : public QuotaUnmasker {
 public:
  struct Options {
    std::string corpus;
    double decay = 0.25, most = 10;
    void declare(OptionSet& set) {
      set.add("corpus", &corpus)
          .help(
              "File of token ids, a text a line, whose token counts plus one are the frequencies; "
              "empty: all tokens are equally frequent.");
      set.add("decay", &decay)
          .in(0, 100)
          .help(
              "Decay of a draft's weight with its distance from the first position of the block.");
      set.add("most", &most)
          .in(0, 1e6)
          .help("Upper bound of -p log f, for a token of confidence p and frequency f.");
    }
  };
  explicit PcSampler(const Options& options) : options_(options) {
    if (!options.corpus.empty()) corpus_ = Corpus::read(options.corpus);
  }
  std::vector<DecodeKey> reads() const override { return {DecodeKey::steps}; }

 private:
  double frequency(Token token, int vocabulary) const {
    if (!corpus_) return 1.0 / vocabulary;
    const auto& counts = corpus_->counts();
    const auto count = token < static_cast<Token>(counts.size()) ? counts[token] : 0;
    return static_cast<double>(count + 1) / static_cast<double>(corpus_->size() + vocabulary);
  }

  int sure(const Step& step, std::vector<Draft>& drafts) const override {
    largest_first(drafts, [&](const Draft& draft) {
      const int place = draft.position - blocks().first(draft.position);
      const double surprise = -std::log(frequency(draft.node->token, step.vocabulary));
      return std::exp(-options_.decay * place) *
             std::min(options_.most, draft.confidence * surprise);
    });
    return 0;
  }

  Options options_;
  std::shared_ptr<const Corpus> corpus_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, pc_sampler) {
  registries.unmaskers.add<draftlab::PcSampler>(
      "pc-sampler",
      "the quota of drafts, early places and tokens that are rare in a corpus first (PC-Sampler)");
}
