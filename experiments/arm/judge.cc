#include "experiments/arm/judge.h"

#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {

Judge::Judge(const Factory<Model>& bound, const Machine& machine, Loaded& loaded)
    : model_(load(bound, machine, loaded)) {
  const std::string checkpoint = model_->facts().checkpoint;
  if (checkpoint.empty())
    throw ConfigError(
        "[model.judge] needs a checkpoint with a tokenizer: a text is judged in the judge's own "
        "tokens");
  tokenizer_ = open_tokenizer(checkpoint);
}

Judge::Score Judge::score(const std::string& text) const {
  std::vector<Token> tokens = tokenizer_->encode(text);
  if (tokens.empty()) return {};
  if (tokens.size() > kLongest) tokens.resize(kLongest);

  // The question is one chain over the whole text, after the token that begins a document: each
  // token is asked given those before it.
  const std::pair<std::int32_t, Token> begin{0, tokenizer_->document_begin()};
  const Canvas canvas(static_cast<int>(tokens.size()) + 1, {&begin, 1});
  Question question{.kind = Kind::judge, .view = View::causal, .nodes = {}, .asks = {}};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const int before = static_cast<int>(i) - 1;
    const auto position = static_cast<std::int32_t>(i) + 1;
    question.asks.push_back({before, {position}});
    if (i + 1 < tokens.size()) question.nodes.push_back({before, position, tokens[i]});
  }
  const auto sequence = model_->open(canvas);
  Answer answer;
  Pending pending{sequence.get(), &question, &answer};
  model_->answer({&pending, 1});

  Score score;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    score.nll -= answer.at(static_cast<int>(i) - 1, static_cast<std::int32_t>(i) + 1)
                     .log_probability(tokens[i]);
    ++score.tokens;
  }
  return score;
}

}  // namespace draftlab
