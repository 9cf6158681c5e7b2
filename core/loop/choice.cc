#include "core/loop/choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/loop/decoder.h"
#include "core/loop/record.h"

namespace draftlab {

ChoiceQuestion::ChoiceQuestion(const std::vector<std::vector<Token>>& choices,
                               const std::vector<std::int32_t>& open)
    : choices_(choices), open_(open) {
  for (const std::vector<Token>& choice : choices) {
    if (choice.empty() || choice.size() > open.size())
      throw Fault("a choice of {} tokens for {} positions", choice.size(), open.size());
  }
  question_ = {
      .kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {{kRoot, {open.front()}}}};
  for (const std::vector<Token>& choice : choices) {
    std::vector<int>& path = paths_.emplace_back(1, kRoot);
    for (std::size_t i = 0; i + 1 < choice.size(); ++i) {
      question_.nodes.push_back({path.back(), open[i], choice[i]});
      path.push_back(static_cast<int>(question_.nodes.size()) - 1);
      question_.asks.push_back({path.back(), {open[i + 1]}});
    }
  }
}

std::vector<Distribution> ChoiceQuestion::laws(const Answer& answer, std::size_t choice) const {
  std::vector<Distribution> laws;
  for (std::size_t i = 0; i < choices_[choice].size(); ++i)
    laws.push_back(answer.at(paths_[choice][i], open_[i]));
  return laws;
}

std::vector<double> ChoiceQuestion::log_probabilities(const Answer& answer,
                                                      std::size_t choice) const {
  std::vector<double> logs;
  for (const Distribution& law : laws(answer, choice))
    logs.push_back(law.log_probability(choices_[choice][logs.size()]));
  return logs;
}

std::size_t ChoiceQuestion::best(const Answer& answer) const {
  std::vector<double> sums;
  for (std::size_t choice = 0; choice < choices_.size(); ++choice) {
    const std::vector<double> logs = log_probabilities(answer, choice);
    sums.push_back(std::accumulate(logs.begin(), logs.end(), 0.0));
  }
  return static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

Choice::Choice(const Arm& arm, const Models& models, const Prompt& prompt)
    : Session(arm, models, prompt),
      choices_(prompt.choices),
      asked_(arm.verifier.make()->asks()),
      verifier_{"verifier", arm.verifier.name, arm.verifier.plugin} {
  open();
}

Asking<SampleRow> Choice::decode() {
  if (std::find(asked_.begin(), asked_.end(), Form::chain) == asked_.end())
    throw ConfigError(
        "a choice between texts asks for their probabilities in the causal view, as a verifier "
        "does that asks `chain`; verifier '{}' does not, so its model need not answer",
        verifier_.name);
  const std::vector<std::int32_t> masked = canvas_.masked_positions();
  co_await refresh();
  asks_now(verifier_);
  const Cost cost(*this);
  const ChoiceQuestion asked(choices_, masked);
  const Answer answer = co_await ask(asked.question());
  const std::size_t best = asked.best(answer);
  StepRow row;
  take(choices_[best], asked.laws(answer, best), row);
  cost.write(*this, row);
  row_.steps.push_back(std::move(row));
  co_return finished();
}

void Choice::take(const std::vector<Token>& chosen, std::vector<Distribution> laws, StepRow& row) {
  const std::vector<std::int32_t> open = canvas_.masked_positions();
  const Window window{open, static_cast<int>(chosen.size())};
  Proposal proposal;
  Verdict verdict;
  row.masked = static_cast<std::int32_t>(open.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    proposal.nodes.push_back({static_cast<int>(i) - 1, open[i], chosen[i]});
    verdict.commits.push_back({open[i], chosen[i]});
    verdict.judged.push_back({std::exp(laws[i].log_probability(chosen[i])), 1, 1, true});
    canvas_.commit(open[i], chosen[i]);
  }
  // The chosen text was drawn from nothing: its drafts are point masses with the numbers, and with
  // trace.top_k the most probable tokens, of the target.
  proposal.raw = std::move(laws);
  record({window, proposal, DraftNumbers(proposal), Route{}, verdict}, arm_.recording, row);
}

std::unique_ptr<Session> session_of(const Arm& arm, const Models& models, const Prompt& prompt,
                                    Randomness random) {
  if (!prompt.choices.empty()) return std::make_unique<Choice>(arm, models, prompt);
  return std::make_unique<Decoder>(arm, models, prompt, random);
}

}  // namespace draftlab
