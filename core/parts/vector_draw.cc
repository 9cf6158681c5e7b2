#include "core/parts/vector_draw.h"

#include "core/base/error.h"

namespace draftlab {

Asking<std::vector<Mixture>> laws_of(const Step& step, std::vector<Reverse> questions, int model) {
  std::vector<Mixture> laws;
  if (questions.empty()) co_return laws;
  const std::size_t count = questions.size();
  Question question{.kind = Kind::aux,
                    .view = step.models[model].view,
                    .nodes = {},
                    .asks = {},
                    .reverse = std::move(questions)};
  Answer answer = co_await step.ask(std::move(question), model);
  if (answer.laws.size() != count)
    throw Fault("a model answered {} laws of {} reverse steps", answer.laws.size(), count);
  for (Mixture& law : answer.laws) laws.push_back(step.drawn(std::move(law), model));
  co_return laws;
}

Normals normals_at(const Step& step, const Site& site, std::uint32_t draw) {
  const auto steps = static_cast<std::uint32_t>(step.models[0].reverse_steps),
             each = static_cast<std::uint32_t>(step.models[0].dimension) + 1;
  return [&step, site, steps, each, draw](std::size_t, int t, int count) {
    Site at = site;
    at.attempt = (draw * (steps + 1) + steps + 1 - static_cast<std::uint32_t>(t)) * each;
    return normals(step.chance, at, count);
  };
}

Trajectory begin_token(const Step& step, Eigen::VectorXd condition, int model,
                       const Eigen::VectorXd& start) {
  return {.condition = std::move(condition),
          .states = {start},
          .laws = {},
          .noise = {},
          .steps = step.models[model].reverse_steps,
          .model = model};
}

Asking<bool> draw_down(const Step& step, std::vector<Trajectory>& tokens, int until,
                       const Normals& normals) {
  while (!tokens.empty() && tokens.front().at() > until) {
    const int t = tokens.front().at();
    std::vector<Reverse> questions;
    for (const Trajectory& token : tokens)
      questions.push_back({token.condition, t, token.states.back()});
    Asking<std::vector<Mixture>> asking = laws_of(step, std::move(questions), tokens.front().model);
    std::vector<Mixture> laws = co_await asking;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      tokens[i].take(std::move(laws[i]), normals(i, t, laws[i].noises()));
  }
  co_return true;
}

}  // namespace draftlab
