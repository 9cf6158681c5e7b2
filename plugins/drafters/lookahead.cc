// Lookahead decoding (Fu et al., 2024). A window of guessed tokens rides in every verification: for
// each of `window` places it holds a run of draft_length tokens, which Jacobi iteration refines.
// What the target finds most probable behind a run makes an n-gram of it, n = draft_length + 1, and
// a pool keeps the latest n-grams by their first token. The tails of the n-grams that begin with
// the last committed token are the drafts. The window's runs are drafts as well, tried after these;
// the authors' program does not judge them, and credits a tail with one token less. It copies
// random tokens of the prompt into the first window, and here these are the prompt's tokens in
// their order. Window and pool belong to one sequence. Drafts are point masses.
#include <map>

#include "core/config/plugin.h"
#include "plugins/drafters/point_masses.h"

namespace draftlab {
namespace {

using Tokens = std::vector<Token>;

class Lookahead final : public Drafter {
 public:
  struct Options {
    std::int64_t window = 7, tails = 7;
    bool text = false;
    void declare(OptionSet& set) {
      set.add("window", &window)
          .in(0, 1024)
          .help("W: places of the window; 0: no window, only n-grams of the text.");
      set.add("tails", &tails)
          .in(1, 1024)
          .help("G: tails that the pool keeps for a token, the latest ones.");
      set.add("text", &text)
          .help("Put the n-grams of prompt and committed text into the pool, too.");
    }
  };
  explicit Lookahead(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::committed}; }
  void begin(const Blocks&, const DecodeOptions& decode) override {
    run_ = static_cast<std::size_t>(decode.draft_length);
  }

  Asking<Proposal> propose(const Step& step) const override {
    step.aux();
    const auto& positions = step.window.positions;
    const std::span<const Token> text = text_before(step);
    Proposal proposal;
    const auto tails = pool_.find(text.empty() ? kNoToken : text.back());
    if (tails != pool_.end())
      for (auto tail = tails->second.rbegin(); tail != tails->second.rend(); ++tail)
        add_path(*tail, positions, proposal);
    const std::vector<Tokens> window = window_.empty() ? first_window(step.canvas) : window_;
    for (std::size_t place = 0; place < window.size(); ++place)
      add_path(path(window, place), positions, proposal);
    proposal.lookahead = 1;
    return or_own_draw(step, std::move(proposal));
  }

  void observe(const Canvas& canvas, const Route&, const Verdict& verdict) override {
    if (options_.text) read_text(canvas);
    if (window_.empty()) window_ = first_window(canvas);
    if (!verdict.carry) return;
    const Carry& carry = *verdict.carry;
    std::vector<Tokens> next = window_;
    for (std::size_t place = 0; place < window_.size(); ++place) {
      int node = kRoot;
      for (const Token token : path(window_, place))
        if (node != kNoNode) node = child_of(carry.nodes, node, token);
      // Near the end of a text the runs of the last places do not fit.
      const Distribution* const behind =
          node == kNoNode ? nullptr : carry.answer.find(node, carry.nodes[node].position + 1);
      if (!behind) continue;
      next[place].erase(next[place].begin());
      next[place].push_back(behind->argmax());
      keep(window_[place].front(), next[place]);
    }
    window_ = std::move(next);
  }
  std::string state() const override {
    std::string text = std::to_string(read_);
    const auto add = [&](const Tokens& tokens) {
      for (const Token token : tokens) text += "," + std::to_string(token);
      text += ";";
    };
    for (const Tokens& run : window_) add(run);
    for (const auto& [token, tails] : pool_) {
      text += " " + std::to_string(token) + ":";
      for (const Tokens& tail : tails) add(tail);
    }
    return text;
  }

 private:
  // The run of a place stands behind the first tokens of the places before it.
  static Tokens path(const std::vector<Tokens>& window, std::size_t place) {
    Tokens tokens;
    for (std::size_t i = 0; i < place; ++i) tokens.push_back(window[i].front());
    tokens.insert(tokens.end(), window[place].begin(), window[place].end());
    return tokens;
  }

  std::vector<Tokens> first_window(const Canvas& canvas) const {
    Tokens prompt;
    for (std::int32_t i = 0; i < canvas.length(); ++i)
      if (canvas.given(i)) prompt.push_back(canvas.token(i));
    if (prompt.empty()) prompt.push_back(0);
    std::vector<Tokens> window(static_cast<std::size_t>(options_.window));
    for (std::size_t place = 0; place < window.size(); ++place)
      for (std::size_t i = 0; i < run_; ++i)
        window[place].push_back(prompt[(place + i) % prompt.size()]);
    return window;
  }

  void keep(Token first, const Tokens& tail) {
    std::vector<Tokens>& tails = pool_[first];
    std::erase(tails, tail);
    tails.push_back(tail);
    if (tails.size() > static_cast<std::size_t>(options_.tails)) tails.erase(tails.begin());
  }

  // Puts the n-grams that are whole by now into the pool.
  void read_text(const Canvas& canvas) {
    const Tokens& tokens = canvas.tokens();
    for (; read_ + run_ < tokens.size(); ++read_) {
      const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(read_);
      const Tokens tail(first + 1, first + 1 + static_cast<std::ptrdiff_t>(run_));
      if (*first == kNoToken || std::count(tail.begin(), tail.end(), kNoToken)) return;
      keep(*first, tail);
    }
  }

  Options options_;
  // The tokens of a run, and how much of the text is in the pool.
  std::size_t run_ = 1, read_ = 0;
  // The run of each place, its tokens one behind the other.
  std::vector<Tokens> window_;
  // By first token, the latest tail last.
  std::map<Token, std::vector<Tokens>> pool_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, lookahead) {
  registries.drafters.add<draftlab::Lookahead>(
      "lookahead",
      "n-grams from a window of guesses that rides in each verification (lookahead decoding); "
      "lossless");
}
