#include "experiments/distill/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

namespace draftlab {
namespace {

struct Hypothesis {
  std::vector<Token> answer;
  double log_probability = 0;
};

// A place for one hypothesis at a time. The model keeps that part of its cache which the next
// hypothesis shares with the last.
struct Beam {
  Canvas canvas;
  std::unique_ptr<Sequence> sequence;
  Hypothesis hypothesis;
  Beam(Model& model, const Prompt& prompt)
      : canvas(prompt.length, prompt.given), sequence(model.open(canvas)) {}
};

// A continuation of the hypothesis of one beam by one token.
struct Next {
  std::size_t beam;
  Token token;
  double log_probability;
};

class Search {
 public:
  Search(Model& model, const Prompt& prompt, const BeamOptions& options)
      : model_(model),
        facts_(model.facts()),
        prompt_(prompt),
        options_(options),
        width_(static_cast<std::size_t>(options.width)),
        first_(static_cast<std::int32_t>(prompt.given.size())),
        most_(static_cast<std::size_t>(prompt.length - first_)) {
    for (std::size_t i = 0; i < width_; ++i)
      beams_.push_back(std::make_unique<Beam>(model, prompt));
  }

  std::vector<Token> best() {
    for (std::size_t length = 1; length <= most_ && alive_ > 0; ++length) {
      std::vector<Next> kept;
      std::vector<Hypothesis> hypotheses;
      for (const Next& next : continuations(length)) {
        Hypothesis hypothesis = beams_[next.beam]->hypothesis;
        hypothesis.answer.push_back(next.token);
        hypothesis.log_probability = next.log_probability;
        if (length == most_ || ends(next.token)) {
          if (const double its = score(next.log_probability, length); its > best_score_)
            best_ = hypothesis, best_score_ = its;
        } else if (kept.size() < width_) {
          kept.push_back(next);
          hypotheses.push_back(std::move(hypothesis));
        }
      }
      // No continuation of the best one left can score better than if going on to the longest
      // answer cost nothing.
      alive_ = kept.empty() || score(kept.front().log_probability, most_) <= best_score_
                   ? 0
                   : kept.size();
      place(kept, hypotheses);
    }
    return best_.answer;
  }

 private:
  double score(double log_probability, std::size_t length) const {
    return log_probability /
           std::pow((5 + static_cast<double>(length)) / 6, options_.length_penalty);
  }
  bool ends(Token token) const {
    return std::count(facts_.stops.begin(), facts_.stops.end(), token) > 0;
  }

  // Asks for the token that makes each hypothesis `length` long. Returns the most probable
  // continuations, best first, twice as many as places, because at most half of them end.
  std::vector<Next> continuations(std::size_t length) {
    const std::int32_t position = first_ + static_cast<std::int32_t>(length) - 1;
    const Question question{
        .kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
    std::vector<Answer> answers(alive_);
    std::vector<Pending> batch;
    for (std::size_t i = 0; i < alive_; ++i)
      batch.push_back({beams_[i]->sequence.get(), &question, &answers[i]});
    model_.answer(batch);
    std::vector<Next> next;
    for (std::size_t i = 0; i < alive_; ++i) {
      const Distribution& law = answers[i].at(kRoot, position);
      const double before = beams_[i]->hypothesis.log_probability;
      for (Token token = 0; token < facts_.vocabulary; ++token)
        if (law.probability(token) > 0)
          next.push_back({i, token, before + law.log_probability(token)});
    }
    const std::size_t wanted = std::min(next.size(), 2 * width_);
    std::partial_sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(wanted), next.end(),
                      [](const Next& a, const Next& b) {
                        return std::tuple(-a.log_probability, a.beam, a.token) <
                               std::tuple(-b.log_probability, b.beam, b.token);
                      });
    next.resize(wanted);
    return next;
  }

  // The first continuation of a hypothesis stays in its place, where the cache is; the others take
  // free places.
  void place(const std::vector<Next>& kept, std::vector<Hypothesis>& hypotheses) {
    std::vector<int> place(kept.size(), -1);
    std::vector<char> taken(alive_, 0);
    for (std::size_t i = 0; i < alive_; ++i)
      if (kept[i].beam < alive_ && !taken[kept[i].beam])
        taken[kept[i].beam] = 1, place[i] = static_cast<int>(kept[i].beam);
    std::size_t free = 0;
    for (std::size_t i = 0; i < alive_; ++i) {
      while (place[i] < 0 && taken[free]) ++free;
      if (place[i] < 0) place[i] = static_cast<int>(free), taken[free] = 1;
      Beam& beam = *beams_[place[i]];
      beam.hypothesis = std::move(hypotheses[i]);
      beam.canvas = Canvas(prompt_.length, prompt_.given);
      std::int32_t at = first_;
      for (const Token token : beam.hypothesis.answer) beam.canvas.commit(at++, token);
    }
  }

  Model& model_;
  const ModelFacts facts_;
  const Prompt& prompt_;
  const BeamOptions& options_;
  const std::size_t width_;
  // The first position of the answer, and the most tokens that it has.
  const std::int32_t first_;
  const std::size_t most_;
  std::vector<std::unique_ptr<Beam>> beams_;
  // At first only the empty answer is alive.
  std::size_t alive_ = 1;
  Hypothesis best_;
  double best_score_ = -std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<Token> beam_search(Model& model, const Prompt& prompt, const BeamOptions& options) {
  return Search(model, prompt, options).best();
}

}  // namespace draftlab
