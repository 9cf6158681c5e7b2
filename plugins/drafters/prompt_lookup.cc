// Drafts from the text so far: what followed an earlier occurrence of its last tokens (prompt
// lookup, Saxena, 2023), or what followed several of them, each as a path of its own (the context
// n-grams of N-Grammys, Stewart et al., 2024). Drafts are point masses. A look-up costs no forward
// and counts as aux; without a match the target draws one token.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/drafter.h"
#include "plugins/drafters/point_masses.h"

namespace draftlab {
namespace {

using Tokens = std::vector<Token>;

// Which occurrence is continued.
enum class Continued { earliest, latest, frequent };
constexpr std::array<std::string_view, 3> words(Continued) {
  return {"earliest", "latest", "frequent"};
}

class PromptLookup final : public Drafter {
 public:
  struct Options {
    std::int64_t longest = 3, shortest = 1, rows = 1;
    Continued match = Continued::earliest;
    bool full = true;
    void declare(OptionSet& set) {
      set.add("longest", &longest)
          .in(1, 64)
          .help("Most last tokens that are looked up; where they do not occur, fewer are tried.");
      set.add("shortest", &shortest).in(1, 64).help("Fewest last tokens that are tried.");
      set.add("match", &match)
          .help(
              "Which occurrence is continued; frequent: the most frequent continuation, the latest "
              "among equals.");
      set.add("full", &full)
          .help("Pass over an occurrence that fewer tokens follow than are to be drafted.");
      set.add("rows", &rows)
          .in(1, 64)
          .help("Different continuations drafted at once, each a path: one forward verifies all.");
    }
  };
  explicit PromptLookup(const Options& options) : options_(options) {
    if (options.shortest > options.longest)
      throw ConfigError("drafter.prompt-lookup.shortest = {} must not exceed longest = {}",
                        options.shortest, options.longest);
  }
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    step.aux();
    const auto& window = step.window.positions;
    const auto count = step.most_drafts();
    const Tokens text(step.canvas.tokens().begin(), step.canvas.tokens().begin() + window.front());
    Proposal proposal;
    for (const Tokens& path : continuations(text, count)) add_path(path, window, proposal);
    return or_own_draw(step, std::move(proposal));
  }

 private:
  // Returns what followed earlier occurrences of the longest ending that has any, best first: at
  // most `count` continuations, all different.
  std::vector<Tokens> continuations(const Tokens& text, std::size_t count) const {
    for (std::size_t n = static_cast<std::size_t>(options_.longest);
         n >= static_cast<std::size_t>(options_.shortest); --n) {
      if (n >= text.size()) continue;
      std::vector<Tokens> found;
      std::map<Tokens, int> times;
      for (std::size_t i = 0; i + n < text.size(); ++i) {
        const auto at = text.begin() + static_cast<std::ptrdiff_t>(i),
                   next = at + static_cast<std::ptrdiff_t>(n);
        const std::size_t left = text.size() - i - n;
        if (!std::equal(at, next, text.end() - static_cast<std::ptrdiff_t>(n)) ||
            (options_.full && left < count))
          continue;
        Tokens path(next, next + static_cast<std::ptrdiff_t>(std::min(left, count)));
        if (++times[path] > 1 && options_.match == Continued::earliest) continue;
        std::erase(found, path);
        found.push_back(std::move(path));
      }
      if (options_.match != Continued::earliest) std::reverse(found.begin(), found.end());
      if (options_.match == Continued::frequent)
        std::stable_sort(found.begin(), found.end(),
                         [&](const Tokens& a, const Tokens& b) { return times[a] > times[b]; });
      if (found.size() > static_cast<std::size_t>(options_.rows))
        found.resize(static_cast<std::size_t>(options_.rows));
      if (!found.empty()) return found;
    }
    return {};
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, prompt_lookup) {
  registries.drafters.add<draftlab::PromptLookup>("prompt-lookup",
                                                  "the tokens behind an earlier occurrence of the "
                                                  "last tokens (PLD, context n-grams); lossless");
}
