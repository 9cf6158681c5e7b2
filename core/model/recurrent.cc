#include "core/model/recurrent.h"

#include <vector>

#include "core/base/error.h"
#include "core/model/recurrent_sequence.h"

namespace draftlab {

RecurrentModel::RecurrentModel(const RollbackRules& rules) : rules_(rules) {
  if (rules_.rollback == Rollback::cut)
    throw ConfigError(
        "rollback = cut drops the rows of rejected tokens, and a recurrent state has none; it must "
        "be snapshot, replay or none");
}

ModelFacts RecurrentModel::facts() const {
  ModelFacts facts = described();
  facts.rollback = rules_.rollback;
  return facts;
}

std::unique_ptr<Sequence> RecurrentModel::open(const Canvas& canvas, const Blocks&) {
  const ModelFacts facts = described();
  if (facts.longest > 0 && canvas.length() > facts.longest)
    throw ConfigError("a canvas of {} positions is longer than the {} that the model can hold",
                      canvas.length(), facts.longest);
  for (const Token token : canvas.tokens())
    if (token >= facts.vocabulary)
      throw ConfigError("prompt token {} lies outside the model's vocabulary of {}", token,
                        facts.vocabulary);
  return std::make_unique<RecurrentSequence>(
      canvas, rules_,
      RecurrentSequence::Sizes{state_size(), static_cast<std::size_t>(facts.vocabulary)});
}

std::optional<Question> RecurrentModel::due(const Sequence& sequence) const {
  if (!static_cast<const RecurrentSequence&>(sequence).owes_rerun()) return std::nullopt;
  return Question{.kind = Kind::commit, .view = View::causal, .nodes = {}, .asks = {}};
}

void RecurrentModel::evaluate(std::span<Pending> batch) {
  std::vector<RecurrentRow> rows;
  for (Pending& pending : batch) {
    if (pending.question->view != View::causal)
      throw ConfigError(
          "a recurrent model was asked bidirectionally: it goes with drafters that ask causally "
          "(model, self, stepwise, ...)");
    static_cast<RecurrentSequence&>(*pending.sequence).add_rows(pending, rows);
    pending.layers = pending.positions > 0 ? layers() : 0;
  }
  run(rows);
  const ModelFacts facts = described();
  for (Pending& pending : batch) {
    const auto& sequence = static_cast<const RecurrentSequence&>(*pending.sequence);
    for (const Ask& ask : pending.question->asks)
      for (const std::int32_t position : ask.positions) {
        if (position != sequence.next(ask.node))
          throw ConfigError(
              "a question asks position {}, but a recurrent model answers the next one alone, "
              "which is {}",
              position, sequence.next(ask.node));
        const auto& logits = sequence.logits(ask.node);
        pending.answer->add(ask.node, position,
                            Distribution::from_logits(logits, *logits, facts.mask));
      }
  }
}

}  // namespace draftlab
