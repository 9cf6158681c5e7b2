#include "experiments/certify/vector_referee.h"

#include "experiments/certify/certify_options.h"

namespace draftlab {
namespace {

Answer ask(Model& model, Sequence& sequence, const Question& question) {
  Answer answer;
  Pending pending{&sequence, &question, &answer};
  model.answer({&pending, 1});
  return answer;
}

}  // namespace

Referee::Referee(const Composition& composition, const Prompt& prompt, Model& target)
    : composition_(composition),
      prompt_(prompt),
      target_(target),
      facts_(target.facts()),
      by_step_(composition.section<CertifyOptions>().given == Given::step) {}

void Referee::innovations(const Decoded& decoded, std::vector<double>& normals) {
  Canvas canvas(prompt_.length, prompt_.given);
  const std::unique_ptr<Sequence> sequence =
      target_.open(canvas, composition_.decode.blocks(canvas));
  for (std::size_t first = 0; first < decoded.tokens.size();) {
    std::size_t end = first + 1;
    while (by_step_ && end < decoded.tokens.size() &&
           decoded.tokens[end].step == decoded.tokens[first].step)
      ++end;
    Question about{.kind = Kind::draft, .view = facts_.view, .nodes = {}, .asks = {{kRoot, {}}}};
    for (std::size_t i = first; i < end; ++i)
      about.asks.front().positions.push_back(decoded.tokens[i].commit.position);
    const Answer conditions = ask(target_, *sequence, about);
    for (; first < end; ++first) {
      const Commit& token = decoded.tokens[first].commit;
      of_token(*sequence, conditions.condition(kRoot, token.position), token, normals);
      canvas.commit(token.position, token.token, false, token.value);
    }
  }
}

void Referee::of_token(Sequence& sequence, const Eigen::VectorXd& condition, const Commit& token,
                       std::vector<double>& normals) {
  if (static_cast<int>(token.path.size()) != facts_.reverse_steps) return;
  Question steps{.kind = Kind::aux, .view = facts_.view, .nodes = {}, .asks = {}, .reverse = {}};
  for (int i = 0; i < facts_.reverse_steps; ++i)
    steps.reverse.push_back({condition, facts_.reverse_steps - i, token.path[i]});
  const Answer answer = ask(target_, sequence, steps);
  for (const double x : token.path.front()) normals.push_back(x);
  for (int i = 0; i < facts_.reverse_steps; ++i) {
    const Mixture law = shaped(answer.laws[i], composition_.decode.sampling.temperature,
                               facts_.dimension, "the target");
    for (const double x :
         law.innovation(i + 1 < facts_.reverse_steps ? token.path[i + 1] : token.value))
      normals.push_back(x);
  }
}

}  // namespace draftlab
