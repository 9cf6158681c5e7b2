#include "experiments/certify/reference_law.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/parts/frontier.h"
#include "experiments/certify/reference_options.h"

namespace draftlab {
namespace {

using Law = std::vector<double>;
using TokenAt = std::pair<std::int32_t, Token>;
// What was committed, in that order.
using History = std::vector<TokenAt>;

// A mass reaches top_p when it falls short by no more than this.
constexpr double kShareRounding = 1e-12;

int most_probable(const Law& law) {
  return static_cast<int>(std::max_element(law.begin(), law.end()) - law.begin());
}

Law normalised(Law law) {
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& p : law) p /= sum;
  return law;
}

// Returns the tokens from the most to the least probable, the lower id first among equals.
std::vector<int> ranked(const Law& law) {
  std::vector<int> tokens(law.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  std::stable_sort(tokens.begin(), tokens.end(), [&](int a, int b) { return law[a] > law[b]; });
  return tokens;
}

// The law that tokens are drawn from: p^(1/T), of which the k most probable tokens are kept, and of
// these the fewest whose mass reaches top_p.
Law filtered(Law law, const Sampling& sampling) {
  if (sampling.temperature == 0) {
    Law point(law.size(), 0.0);
    point[most_probable(law)] = 1;
    return point;
  }
  const double largest = law[most_probable(law)];
  for (double& p : law) p = std::pow(p / largest, 1 / sampling.temperature);
  const std::vector<int> order = ranked(law);
  if (sampling.top_k > 0)
    for (std::size_t i = sampling.top_k; i < order.size(); ++i) law[order[i]] = 0;
  law = normalised(std::move(law));
  double mass = 0;
  for (const int token : order) {
    if (mass >= sampling.top_p - kShareRounding) law[token] = 0;
    mass += law[token];
  }
  return normalised(std::move(law));
}

// A law between target p and draft model q: one of both where a position is deferred as a whole;
// else q on the tokens that are good enough, and p times the mass that q has elsewhere.
Law cascade(const Law& p, const Law& q, const ReferenceOptions& options) {
  const double best_p = p[most_probable(p)], best_q = q[most_probable(q)], alpha = options.alpha;
  double distance = 0;
  for (std::size_t i = 0; i < p.size(); ++i) distance += std::abs(p[i] - q[i]) / 2;
  switch (options.rule) {
    case Mixing::chow: return best_q < 1 - alpha ? p : q;
    case Mixing::diff: return best_q < best_p - alpha ? p : q;
    case Mixing::opt: return best_q < best_p - alpha * distance ? p : q;
    default: break;
  }
  const auto good = [&](std::size_t i) {
    if (options.rule == Mixing::by_draft) return q[i] >= best_q - alpha;
    if (options.rule == Mixing::by_target) return p[i] >= best_p - alpha;
    return p[i] >= (1 - alpha) * best_p;
  };
  double elsewhere = 0;
  for (std::size_t i = 0; i < p.size(); ++i) elsewhere += good(i) ? 0 : q[i];
  Law mixed(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) mixed[i] = (good(i) ? q[i] : 0) + p[i] * elsewhere;
  return normalised(std::move(mixed));
}

// A position that a denoising step drew, and how it ranks.
struct Drawn {
  std::int32_t position;
  Token token;
  double confidence, rank;
};

double rank_of(const Law& law, Token token, Kept order) {
  if (order == Kept::confidence) return law[token];
  const std::vector<int> tokens = ranked(law);
  if (order == Kept::peak) return law[tokens[0]];
  if (order == Kept::margin) return law[tokens[0]] - law[tokens[1]];
  double entropy = 0;
  for (const double p : law) entropy -= p > 0 ? p * std::log(p) : 0;
  return -entropy;
}

// Returns how many of `drawn` are kept, which it sorts by rank, the leftmost first among equals.
std::size_t kept(std::vector<Drawn>& drawn, const ReferenceOptions& options) {
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const Drawn& a, const Drawn& b) { return a.rank > b.rank; });
  auto sure = std::count_if(drawn.begin(), drawn.end(), [&](const Drawn& draft) {
    return draft.confidence > options.threshold;
  });
  if (options.at_most > 0) sure = std::min<std::ptrdiff_t>(sure, options.at_most);
  return std::min(drawn.size(),
                  static_cast<std::size_t>(std::max<std::int64_t>(sure, options.at_least)));
}

// The walk: states of the canvas with their probabilities, from fewer to more committed tokens.
class LawWalk {
 public:
  LawWalk(const Composition& decoder, const Models& models, const Prompt& prompt, std::int64_t most)
      : decoder_(decoder),
        options_(decoder.section<ReferenceOptions>()),
        models_(models),
        prompt_(prompt),
        most_(most),
        decode_(decoder.decode),
        sampling_(decoder.decode.sampling),
        ends_(models.target().facts().stops) {
    ends_.insert(ends_.end(), prompt.ends.begin(), prompt.ends.end());
    ranked_less_ = ends_;
    if (options_.ending == Ending::off ||
        (options_.ending == Ending::decode && decode_.stop == StopRule::off))
      ends_.clear();
    if (options_.temperature >= 0) sampling_.temperature = options_.temperature;
    if (options_.law == ReferenceLaw::cascade && models.models.size() < 2)
      throw ConfigError(
          "reference.law = cascade mixes the target with a draft model; set model.draft");
    // A sequential decoder decodes blocks of one position, in which both views are the same.
    if (options_.law != ReferenceLaw::denoising) decode_.sub_block = 0;
    if (options_.law != ReferenceLaw::denoising && decode_.block_size > 0) decode_.block_size = 1;
  }

  // Walks all texts, for each order that the frontier may draw.
  Reference all() {
    EnumeratedChance chance;
    do {
      chance.begin();
      const Canvas canvas(prompt_.length, prompt_.given);
      frontier_ = decoder_.frontier.make();
      frontier_->begin(decode_.blocks(canvas), decode_);
      frontier_->check(canvas);
      frontier_->arrange(canvas, chance, 0);
      // A history of more tokens compares greater, so every state is complete when its turn comes.
      states_ = {{{0, {}}, chance.weight()}};
      while (!states_.empty()) {
        const auto [key, probability] = *states_.begin();
        states_.erase(states_.begin());
        go_on(key.second, probability);
      }
    } while (chance.next());
    return std::move(reference_);
  }

 private:
  // Finishes the text, or adds the states that the next step leads to.
  void go_on(const History& history, double probability) {
    const Canvas canvas = canvas_of(history);
    const std::int32_t end = end_of_text(canvas);
    if (end < 0 && !canvas.masked_positions().empty()) {
      if (++reference_.asked > most_)
        throw ConfigError(
            "the reference's law has more than certify.most_outcomes = {} states; use fewer tokens "
            "or unknown positions, or raise it",
            most_);
      return options_.law == ReferenceLaw::denoising ? denoise(history, probability)
                                                     : next_token(history, probability);
    }
    std::vector<Token> text = canvas.tokens();
    if (end >= 0) std::fill(text.begin() + end + 1, text.end(), kNoToken);
    reference_.probability[text] += probability;
  }

  void reach(History history, double probability) {
    const std::size_t size = history.size();
    states_[{size, std::move(history)}] += probability;
  }

  void next_token(const History& history, double probability) {
    const std::int32_t position = frontier_->next(canvas_of(history)).positions.front();
    Law law = ask(0, history, View::causal, {position}).front();
    law = filtered(std::move(law), sampling_);
    if (options_.law == ReferenceLaw::cascade)
      law = cascade(law, filtered(ask(1, history, View::causal, {position}).front(), sampling_),
                    options_);
    for (std::size_t token = 0; token < law.size(); ++token) {
      if (law[token] == 0) continue;
      History longer = history;
      longer.emplace_back(position, static_cast<Token>(token));
      reach(std::move(longer), probability * law[token]);
    }
  }

  // Every mask of the window is drawn independently; all combinations are walked.
  void denoise(const History& history, double probability) {
    const std::vector<std::int32_t> open = masks_of_the_block(history);
    const std::vector<Law> raw = ask(0, history, View::bidirectional, open);
    std::vector<Law> laws;
    for (const Law& law : raw) laws.push_back(filtered(law, sampling_));
    const std::vector<Law>& read = decode_.reads == Reads::drawn ? laws : raw;
    std::vector<Drawn> drawn;
    const auto draw = [&](const auto& self, double chance) -> void {
      if (drawn.size() == open.size()) return keep(history, drawn, chance);
      const std::size_t i = drawn.size();
      for (std::size_t t = 0; t < laws[i].size(); ++t) {
        if (laws[i][t] == 0) continue;
        const auto token = static_cast<Token>(t);
        const Law law = as_read(read[i], token);
        drawn.push_back({open[i], token, law[t], rank_of(law, token, options_.order)});
        self(self, chance * laws[i][t]);
        drawn.pop_back();
      }
    };
    draw(draw, probability);
  }

  // The law that ranks a drawn token: an end of text counts for its share (end_confidence).
  Law as_read(const Law& law, Token token) const {
    if (options_.end_confidence == 1 || std::ranges::count(ranked_less_, token) == 0) return law;
    Law read = law;
    read[static_cast<std::size_t>(token)] *= options_.end_confidence;
    return normalised(std::move(read));
  }

  void keep(const History& history, std::vector<Drawn> drawn, double probability) {
    const std::size_t count = kept(drawn, options_);
    History longer = history;
    for (std::size_t i = 0; i < count; ++i) longer.emplace_back(drawn[i].position, drawn[i].token);
    reach(std::move(longer), probability);
  }

  Canvas canvas_of(const History& history) const {
    Canvas canvas(prompt_.length, prompt_.given);
    for (const auto& [position, token] : history) canvas.commit(position, token);
    return canvas;
  }

  // The masks of the first block, or part of one, that has any: no frontier says so.
  std::vector<std::int32_t> masks_of_the_block(const History& history) const {
    const Canvas canvas = canvas_of(history);
    std::vector<std::int32_t> masks = canvas.masked_positions();
    const std::int32_t end = decode_.blocks(canvas).part_end(masks.front(), canvas.length());
    std::erase_if(masks, [&](std::int32_t position) { return position >= end; });
    return masks;
  }

  // Opens a sequence, commits the history, and asks. What the model's cache needs on the way is
  // answered, as the loop would.
  std::vector<Law> ask(std::size_t which, const History& history, View view,
                       const std::vector<std::int32_t>& positions) {
    Model& model = *models_.models[which];
    Canvas canvas(prompt_.length, prompt_.given);
    const std::unique_ptr<Sequence> sequence = model.open(canvas, decode_.blocks(canvas));
    bring_up_to_date(model, *sequence);
    for (const auto& [position, token] : history) {
      canvas.commit(position, token);
      bring_up_to_date(model, *sequence);
    }
    const Answer answer = answered(model, *sequence,
                                   {.kind = which == 0 ? Kind::verify : Kind::draft,
                                    .view = view,
                                    .nodes = {},
                                    .asks = {{kRoot, positions}}});
    std::vector<Law> laws;
    for (const std::int32_t position : positions) {
      const Eigen::ArrayXd& p = answer.at(kRoot, position).probabilities();
      laws.emplace_back(p.begin(), p.end());
    }
    return laws;
  }

  static void bring_up_to_date(Model& model, Sequence& sequence) {
    while (const std::optional<Question> due = model.due(sequence)) answered(model, sequence, *due);
  }

  static Answer answered(Model& model, Sequence& sequence, const Question& question) {
    Answer answer;
    Pending pending{&sequence, &question, &answer};
    model.answer({&pending, 1});
    return answer;
  }

  // The first generated end-of-text token with no mask before it; -1 while there is none.
  std::int32_t end_of_text(const Canvas& canvas) const {
    for (std::int32_t i = 0; i < canvas.length() && !canvas.masked(i); ++i)
      if (!canvas.given(i) && std::count(ends_.begin(), ends_.end(), canvas.token(i))) return i;
    return -1;
  }

  const Composition& decoder_;
  const ReferenceOptions& options_;
  const Models& models_;
  const Prompt& prompt_;
  const std::int64_t most_;
  DecodeOptions decode_;
  Sampling sampling_;
  // The tokens that end a text here, and those that end_confidence is about, which decode on where
  // decode.stop = off.
  std::vector<Token> ends_, ranked_less_;
  std::unique_ptr<Frontier> frontier_;
  // The states that are reached and not walked yet, fewer tokens first.
  std::map<std::pair<std::size_t, History>, double> states_;
  Reference reference_;
};

}  // namespace

Reference reference_law(const Composition& decoder, const Models& models, const Prompt& prompt,
                        std::int64_t most) {
  return LawWalk(decoder, models, prompt, most).all();
}

}  // namespace draftlab
