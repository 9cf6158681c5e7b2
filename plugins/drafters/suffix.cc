// Suffix decoding (Oliaro et al., 2024; as in Arctic Inference): for each number m of last tokens
// that occurred before, what followed them is a draft, of at most factor m + offset tokens, and the
// draft whose shares add up to most is proposed, the one of the longer match among equals. Shares
// are taken of all occurrences, the present one included, so they add up to less than 1. A corpus
// stands for earlier outputs; the draft of the text itself wins where both are as good. Drafts are
// point masses, and a function of the text alone.
#include <cmath>

#include "core/config/plugin.h"
#include "core/parts/corpus.h"
#include "plugins/drafters/continuations.h"
#include "plugins/drafters/point_masses.h"

namespace draftlab {
namespace {

class Suffix final : public Drafter {
 public:
  struct Options {
    double factor = 1, offset = 0, least_share = 0.1;
    std::int64_t longest = static_cast<std::int64_t>(Corpus::kLongest);
    bool tree = false;
    std::string corpus;
    void declare(OptionSet& set) {
      set.add("factor", &factor)
          .in(0, 1000)
          .help("Drafts for each token of the match, before offset is added.");
      set.add("offset", &offset)
          .in(-1000, 1000)
          .help("Number added to factor times the length of the match.");
      set.add("least_share", &least_share)
          .in(0, 1)
          .help("Least share of the occurrences that a continuation must have.");
      set.add("longest", &longest)
          .in(1, static_cast<double>(Corpus::kLongest))
          .help("Most last tokens that are looked up.");
      set.add("tree", &tree)
          .help(
              "Draft a tree, the most frequent continuations first; false: a path of the most "
              "frequent tokens.");
      set.add("corpus", &corpus)
          .help("A file of token ids, a text a line, that is looked up, too; empty: none.");
    }
  };
  explicit Suffix(const Options& options) : options_(options) {
    if (!options.corpus.empty()) corpus_ = Corpus::read(options.corpus);
  }
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    step.aux();
    const auto& window = step.window.positions;
    const std::span<const Token> text = text_before(step);
    const auto most = static_cast<std::int64_t>(step.most_drafts());
    // The best draft over all lengths m of the match; places_of(m) is where it goes on.
    const auto best_of = [&](std::span<const Token> tokens, std::size_t least, auto places_of) {
      Continuations best;
      const auto longest = std::min(static_cast<std::size_t>(options_.longest), text.size());
      for (std::size_t m = 1; m <= longest && text[text.size() - m] != kNoToken; ++m) {
        const std::vector<std::int32_t> places = places_of(m);
        if (places.size() < least) break;
        const double limit = std::floor(static_cast<double>(m) * options_.factor + options_.offset);
        const auto drafts = static_cast<std::int64_t>(std::min(static_cast<double>(most), limit));
        Continuations grown =
            continuations(tokens, places, {drafts, most, options_.least_share, !options_.tree});
        if (grown.score >= best.score) best = std::move(grown);
      }
      return best;
    };
    // The text's ending is found in the text at least once, at its end.
    Continuations best = best_of(text, 2, [&](std::size_t m) { return places_of_ending(text, m); });
    if (corpus_) {
      Continuations other = best_of(corpus_->tokens(), 1,
                                    [&](std::size_t m) { return corpus_->behind(text.last(m)); });
      if (other.score > best.score) best = std::move(other);
    }
    return or_own_draw(step, proposal_of(best, window));
  }

 private:
  Options options_;
  std::shared_ptr<const Corpus> corpus_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, suffix) {
  registries.drafters.add<draftlab::Suffix>("suffix",
                                            "the likeliest continuation of the last tokens, as "
                                            "they occurred before (suffix decoding); lossless");
}
