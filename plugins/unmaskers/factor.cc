// The factor rule (Fast-dLLM, Wu et al., 2025): of the n most confident drafts, all are committed
// as long as (n + 1) (1 - c_n) stays below a factor, c_n being the n-th confidence. The program
// that was published with the paper commits more than this at the end of a block.
#include "core/config/plugin.h"
#include "plugins/unmaskers/quota.h"

namespace draftlab {
namespace {

enum class As { paper, program };
constexpr std::array<std::string_view, 2> words(As) { return {"paper", "program"}; }

class Factor final : public QuotaUnmasker {
 public:
  struct Options {
    double factor = 1;
    As as = As::paper;
    void declare(OptionSet& set) {
      set.add("factor", &factor).in(0, 1000).help("Upper bound of (n + 1) (1 - c_n).");
      set.add("as", &as).help(
          "paper: the rule as it is stated. program: equality passes, too, and a rule that first "
          "fails at the last draft commits all, that one included.");
    }
  };
  explicit Factor(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {DecodeKey::steps}; }

 private:
  // Drafts come most confident first, and the first needs no test.
  int sure(const Step&, std::vector<Draft>& drafts) const override {
    const bool program = options_.as == As::program;
    const int all = static_cast<int>(drafts.size());
    int n = std::min(1, all);
    while (n < all) {
      const double left = (n + 2) * (1 - drafts[n].confidence);
      if (!(left < options_.factor || (program && left <= options_.factor))) break;
      ++n;
    }
    return program && n + 1 == all ? all : n;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, factor) {
  registries.unmaskers.add<draftlab::Factor>(
      "factor",
      "the n most confident drafts while (n + 1) (1 - c_n) is below a factor (Fast-dLLM)");
}
