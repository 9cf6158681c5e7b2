// Retrieval (REST, He et al., 2024): the longest ending of the text that occurs in a corpus is
// looked up, and its most frequent continuations are drafted as a tree. Where nothing is found, the
// target draws one token; the authors' program then verifies token 100. Drafts are point masses.
#include "core/config/plugin.h"
#include "core/parts/corpus.h"
#include "plugins/drafters/continuations.h"
#include "plugins/drafters/point_masses.h"

namespace draftlab {
namespace {

class Rest final : public Drafter {
 public:
  struct Options {
    std::string corpus;
    std::int64_t longest = 16, shortest = 2, hits = 5000, drafts = 64;
    void declare(OptionSet& set) {
      set.add("corpus", &corpus)
          .help("A file of token ids, a text a line; empty: the text that is being decoded.");
      set.add("longest", &longest)
          .in(1, static_cast<double>(Corpus::kLongest))
          .help("Most last tokens that are looked up; where they do not occur, fewer are tried.");
      set.add("shortest", &shortest)
          .in(1, static_cast<double>(Corpus::kLongest))
          .help("Fewest last tokens that are tried.");
      set.add("hits", &hits).in(1, 1e7).help("Occurrences whose continuations are counted.");
      set.add("drafts", &drafts).in(1, 4096).help("Drafts of a step, the most frequent ones.");
    }
  };
  explicit Rest(const Options& options) : options_(options) {
    if (options.shortest > options.longest)
      throw ConfigError("drafter.rest.shortest = {} must not exceed longest = {}", options.shortest,
                        options.longest);
    if (!options.corpus.empty()) corpus_ = Corpus::read(options.corpus);
  }
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    step.aux();
    const auto& window = step.window.positions;
    const std::span<const Token> text = text_before(step);
    const std::span<const Token> tokens = corpus_ ? std::span(corpus_->tokens()) : text;
    const auto depth = static_cast<std::int64_t>(step.most_drafts());
    Continuations grown;
    const auto longest = std::min(static_cast<std::size_t>(options_.longest), text.size());
    for (std::size_t m = longest;
         m >= static_cast<std::size_t>(options_.shortest) && grown.drafts.empty(); --m)
      grown = continuations(tokens, places(text, m), {options_.drafts, depth});
    return or_own_draw(step, proposal_of(grown, window));
  }

 private:
  // Returns what follows the first `hits` occurrences of the last m tokens.
  std::vector<std::int32_t> places(std::span<const Token> text, std::size_t m) const {
    std::vector<std::int32_t> found;
    if (std::count(text.end() - static_cast<std::ptrdiff_t>(m), text.end(), kNoToken)) return found;
    found = corpus_ ? corpus_->behind(text.last(m)) : places_of_ending(text, m);
    if (found.size() > static_cast<std::size_t>(options_.hits))
      found.resize(static_cast<std::size_t>(options_.hits));
    return found;
  }

  Options options_;
  std::shared_ptr<const Corpus> corpus_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, rest) {
  registries.drafters.add<draftlab::Rest>(
      "rest", "the most frequent continuations of the text's ending in a corpus (REST); lossless");
}
