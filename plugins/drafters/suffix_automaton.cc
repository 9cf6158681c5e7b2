// SAM decoding (Hu et al., 2024): a suffix automaton of the text finds the longest ending that
// occurs before, and its earliest occurrence is continued. Where fewer tokens follow there than are
// to be drafted, a shorter match with room is taken; where the match is too short, the target draws
// one token. A match in a corpus is taken where it is longer by more than `corpus_less`. Drafts are
// point masses, and a function of the text alone: the automaton only makes finding them cheap.
#include <map>

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
      set.add("least", &least).in(1, 4096).help("Tokens that must match.");
      set.add("for_each", &for_each)
          .in(0, 4096)
          .help("Drafts for each token of the match, up to decode.draft_length; 0: no such limit.");
      set.add("corpus", &corpus)
          .help("A file of token ids, a text a line, that is searched, too; empty: none.");
      set.add("corpus_less", &corpus_less)
          .in(0, 4096)
          .help("So many tokens less a match in the corpus counts.");
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
    const auto most =
        std::min<std::int64_t>(static_cast<std::int64_t>(window.size()), step.decode.draft_length);
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
  // The strings that end at the same places of the text: the longest of them, where the first such
  // place is, and which set holds the longest shorter ending that occurs elsewhere as well.
  struct State {
    std::int64_t longest = 0;
    std::size_t first_end = 0;
    int shorter = -1;
    std::map<Token, int> next = {};
  };

  // Builds the automaton of the text and returns the longest match that leaves room for `wanted`
  // tokens; where none does, the longest match.
  static Match in_text(std::span<const Token> text, std::int64_t wanted) {
    std::vector<State> states(1);
    int last = 0;
    for (std::size_t i = 0; i < text.size(); ++i) last = extend(states, last, text[i], i);
    Match found;
    for (int at = states[last].shorter; at > 0; at = states[at].shorter) {
      const Match match{states[at].longest, text.subspan(states[at].first_end + 1)};
      if (found.length == 0) found = match;
      if (static_cast<std::int64_t>(match.next.size()) >= wanted) return match;
    }
    return found;
  }

  // Adds a token behind the text (Blumer et al., 1985) and returns the state of the whole text.
  static int extend(std::vector<State>& states, int last, Token token, std::size_t end) {
    const int whole = static_cast<int>(states.size());
    states.push_back({states[last].longest + 1, end});
    int at = last;
    for (; at >= 0 && !states[at].next.contains(token); at = states[at].shorter)
      states[at].next[token] = whole;
    if (at < 0) {
      states[whole].shorter = 0;
      return whole;
    }
    const int other = states[at].next[token];
    if (states[at].longest + 1 == states[other].longest) {
      states[whole].shorter = other;
      return whole;
    }
    const int split = static_cast<int>(states.size());
    states.push_back(states[other]);
    states[split].longest = states[at].longest + 1;
    for (; at >= 0 && states[at].next.contains(token) && states[at].next[token] == other;
         at = states[at].shorter)
      states[at].next[token] = split;
    states[other].shorter = states[whole].shorter = split;
    return whole;
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
      "what followed the earliest occurrence of the longest ending (SAM decoding); lossless");
}
