// SAM decoding (Hu et al., 2024): the longest ending of the text that occurs before is continued
// where it occurs first. Where fewer tokens follow there than are to be drafted, a shorter match
// with room is taken; where the match is too short, the target draws one token. A match in a corpus
// is taken where it is longer by more than `corpus_less`. Drafts are point masses, and a function
// of the text alone. (The authors find the match by a suffix automaton, which grows with the text;
// here the matches of all endings are computed anew in each step, in time linear in the text.)
#include <algorithm>

#include "core/config/plugin.h"
#include "core/parts/corpus.h"
#include "plugins/drafters/point_masses.h"

namespace draftlab {
namespace {

class SuffixAutomaton final : public Drafter {
 public:
  struct Options {
    std::int64_t least = 5, corpus_less = 5;
    double for_each = 4;
    std::string corpus;
    void declare(OptionSet& set) {
      set.add("least", &least).in(1, 4096).help("Fewest tokens that must match.");
      set.add("for_each", &for_each)
          .in(0, 4096)
          .help("Drafts for each token of the match, up to decode.draft_length; 0: no such limit.");
      set.add("corpus", &corpus)
          .help("A file of token ids, a text a line, that is searched, too; empty: none.");
      set.add("corpus_less", &corpus_less)
          .in(0, 4096)
          .help("Tokens by which a match in the corpus must be longer than one in the text.");
    }
  };
  explicit SuffixAutomaton(const Options& options) : options_(options) {
    if (!options.corpus.empty()) corpus_ = Corpus::read(options.corpus);
  }
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    step.aux();
    const auto& window = step.window.positions;
    const std::span<const Token> text = text_before(step);
    const auto most = static_cast<std::int64_t>(step.most_drafts());
    Match match = in_text(text, most);
    if (corpus_) {
      const Match other = in_corpus(text);
      if (other.length - options_.corpus_less > match.length) {
        match = other;
        match.length -= options_.corpus_less;
      }
    }
    Proposal proposal;
    if (match.length >= options_.least) {
      const double limit = options_.for_each * static_cast<double>(match.length);
      const auto wanted = static_cast<std::size_t>(options_.for_each > 0
                                                       ? std::min(static_cast<double>(most), limit)
                                                       : static_cast<double>(most));
      const auto next = match.next.first(std::min(match.next.size(), wanted));
      add_path({next.begin(), std::find(next.begin(), next.end(), kNoToken)}, window, proposal);
    }
    return or_own_draw(step, std::move(proposal));
  }

 private:
  // How many last tokens match, and what follows the other occurrence.
  struct Match {
    std::int64_t length = 0;
    std::span<const Token> next = {};
  };
  // Returns the longest ending that occurs before, at its earliest place, among those that leave
  // room for `wanted` tokens there; where none does, the longest of all.
  static Match in_text(std::span<const Token> text, std::int64_t wanted) {
    const std::vector<std::size_t> runs = matches_from_end(text);
    Match longest, roomy;
    for (std::size_t back = runs.size(); back-- > 1;) {
      if (static_cast<std::int64_t>(runs[back]) <= longest.length) continue;
      longest = {static_cast<std::int64_t>(runs[back]), text.last(back)};
      if (static_cast<std::int64_t>(back) >= wanted) roomy = longest;
    }
    return roomy.length > 0 ? roomy : longest;
  }

  // Returns for each number of tokens how many of the last ones stand before that many tokens of
  // the end, too (the Z algorithm, from behind).
  static std::vector<std::size_t> matches_from_end(std::span<const Token> text) {
    const std::size_t n = text.size();
    std::vector<std::size_t> runs(n, 0);
    // The match [begin, end) that reaches furthest, as distances from the end of the text.
    std::size_t begin = 0, end = 0;
    for (std::size_t back = 1; back < n; ++back) {
      std::size_t run = back < end ? std::min(runs[back - begin], end - back) : 0;
      while (back + run < n && text[n - 1 - run] == text[n - 1 - back - run]) ++run;
      if (back + run > end) begin = back, end = back + run;
      runs[back] = run;
    }
    return runs;
  }

  Match in_corpus(std::span<const Token> text) const {
    for (std::size_t m = std::min(text.size(), Corpus::kLongest); m > 0; --m) {
      if (std::count(text.end() - static_cast<std::ptrdiff_t>(m), text.end(), kNoToken)) continue;
      const std::vector<std::int32_t> places = corpus_->behind(text.last(m));
      if (places.empty()) continue;
      const std::int32_t first = *std::min_element(places.begin(), places.end());
      return {static_cast<std::int64_t>(m), std::span(corpus_->tokens()).subspan(first)};
    }
    return {};
  }

  Options options_;
  std::shared_ptr<const Corpus> corpus_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, suffix_automaton) {
  registries.drafters.add<draftlab::SuffixAutomaton>(
      "suffix-automaton",
      "the tokens behind the earliest occurrence of the text's longest ending (SAM decoding); "
      "lossless");
}
