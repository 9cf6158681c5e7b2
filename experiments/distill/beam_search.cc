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

}  // namespace

std::vector<Token> beam_search(Model& model, const Prompt& prompt, const BeamOptions& options) {
  const ModelFacts facts = model.facts();
  const auto first = static_cast<std::int32_t>(prompt.given.size());
  const auto width = static_cast<std::size_t>(options.width),
             most = static_cast<std::size_t>(prompt.length - first);
  const auto score = [&](double log_probability, std::size_t length) {
    return log_probability /
           std::pow((5 + static_cast<double>(length)) / 6, options.length_penalty);
  };
  std::vector<std::unique_ptr<Beam>> beams;
  for (std::size_t i = 0; i < width; ++i) beams.push_back(std::make_unique<Beam>(model, prompt));
  // At first only the empty answer is alive.
  std::size_t alive = 1;
  Hypothesis best;
  double best_score = -std::numeric_limits<double>::infinity();

  for (std::size_t length = 1; length <= most && alive > 0; ++length) {
    const std::int32_t position = first + static_cast<std::int32_t>(length) - 1;
    const Question question{
        .kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
    std::vector<Answer> answers(alive);
    std::vector<Pending> batch;
    for (std::size_t i = 0; i < alive; ++i)
      batch.push_back({beams[i]->sequence.get(), &question, &answers[i]});
    model.answer(batch);

    // There are twice as many continuations as places, because at most half of them end.
    struct Next {
      std::size_t beam;
      Token token;
      double log_probability;
    };
    std::vector<Next> next;
    for (std::size_t i = 0; i < alive; ++i) {
      const Distribution& distribution = answers[i].at(kRoot, position);
      for (Token token = 0; token < facts.vocabulary; ++token) {
        if (distribution.probability(token) > 0)
          next.push_back(
              {i, token,
               beams[i]->hypothesis.log_probability + distribution.log_probability(token)});
      }
    }
    const std::size_t wanted = std::min(next.size(), 2 * width);
    std::partial_sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(wanted), next.end(),
                      [](const Next& a, const Next& b) {
                        return std::tuple(-a.log_probability, a.beam, a.token) <
                               std::tuple(-b.log_probability, b.beam, b.token);
                      });
    next.resize(wanted);

    std::vector<Next> kept;
    std::vector<Hypothesis> hypotheses;
    for (const Next& one : next) {
      Hypothesis hypothesis = beams[one.beam]->hypothesis;
      hypothesis.answer.push_back(one.token);
      hypothesis.log_probability = one.log_probability;
      if (length == most || std::count(facts.stops.begin(), facts.stops.end(), one.token)) {
        if (const double its = score(one.log_probability, length); its > best_score)
          best = hypothesis, best_score = its;
      } else if (kept.size() < width) {
        kept.push_back(one);
        hypotheses.push_back(std::move(hypothesis));
      }
    }
    // No continuation of the best one left can score better than if going on to the longest answer
    // cost nothing.
    alive =
        kept.empty() || score(kept.front().log_probability, most) <= best_score ? 0 : kept.size();

    // The first continuation of a hypothesis stays in its place, where the cache is; the others
    // take free places.
    std::vector<int> place(kept.size(), -1);
    std::vector<char> taken(alive, 0);
    for (std::size_t i = 0; i < alive; ++i)
      if (kept[i].beam < alive && !taken[kept[i].beam])
        taken[kept[i].beam] = 1, place[i] = static_cast<int>(kept[i].beam);
    std::size_t free = 0;
    for (std::size_t i = 0; i < alive; ++i) {
      while (place[i] < 0 && taken[free]) ++free;
      if (place[i] < 0) place[i] = static_cast<int>(free), taken[free] = 1;
      Beam& beam = *beams[place[i]];
      beam.hypothesis = std::move(hypotheses[i]);
      beam.canvas = Canvas(prompt.length, prompt.given);
      for (std::size_t at = 0; at < length; ++at)
        beam.canvas.commit(first + static_cast<std::int32_t>(at), beam.hypothesis.answer[at]);
    }
  }
  return best.answer;
}

}  // namespace draftlab
