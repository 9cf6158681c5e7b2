// Choosing between texts instead of decoding one: a prompt that has choices is completed by the one
// to which the target gives the highest probability.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/loop/decoder.h"

namespace draftlab {

// The choices of a prompt as one question: a path of drafted tokens for each, which the target
// answers in the causal view. So a choice costs one function evaluation.
class ChoiceQuestion {
 public:
  // `open` are the masked positions, on which every choice stands from the first on. Both outlive
  // this. Throws a Fault where a choice is empty or does not fit.
  ChoiceQuestion(const std::vector<std::vector<Token>>& choices,
                 const std::vector<std::int32_t>& open);
  const Question& question() const { return question_; }
  // The distribution of each token of a choice, given the tokens before it.
  std::vector<Distribution> laws(const Answer& answer, std::size_t choice) const;
  // The log-probability of each token of a choice in these.
  std::vector<double> log_probabilities(const Answer& answer, std::size_t choice) const;
  // The choice with the highest sum of these, the first among equals; lengths count for nothing.
  std::size_t best(const Answer& answer) const;

 private:
  const std::vector<std::vector<Token>>& choices_;
  const std::vector<std::int32_t>& open_;
  Question question_;
  // For each choice, the nodes at which its tokens are asked.
  std::vector<std::vector<int>> paths_;
};

class Choice final : public Session {
 public:
  // References outlive the session. decode() throws ConfigError where the verifier of the arm asks
  // no chains, because it was then not checked that the model answers them.
  Choice(const Arm& arm, const Models& models, const Prompt& prompt);
  // The row has one step, which drafted the chosen text and accepted all of it.
  Asking<SampleRow> decode() override;

 private:
  // Writes the chosen text onto the canvas and into the row of a step; `laws` are those of its
  // tokens.
  void take(const std::vector<Token>& chosen, std::vector<Distribution> laws, StepRow& row);
  std::vector<std::vector<Token>> choices_;
  std::vector<Form> asked_;
  Author verifier_;
};

// Returns what decodes the prompt: a Choice where it has choices, else a Decoder, whose arguments
// these are.
std::unique_ptr<Session> session_of(const Arm& arm, const Models& models, const Prompt& prompt,
                                    Randomness random);

}  // namespace draftlab
