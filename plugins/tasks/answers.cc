#include "plugins/tasks/answers.h"
#include "plugins/tasks/prompts.h"

#include <algorithm>

namespace draftlab {

Prompt question_prompt(const WorkedQuestion& asked, const AnswerCanvas& canvas,
                       const Tokenizer& tokenizer) {
  Prompt prompt;
  if (begins(tokenizer, canvas.begin)) prompt.reference.push_back(tokenizer.begin());
  const std::vector<Token> question = tokenizer.encode(asked.question),
                           answer = tokenizer.encode(asked.answer);
  prompt.reference.insert(prompt.reference.end(), question.begin(), question.end());
  prompt.offset = static_cast<int>(prompt.reference.size());
  for (std::int32_t position = 0; position < prompt.offset; ++position)
    prompt.given.emplace_back(position, prompt.reference[position]);
  prompt.length = prompt.offset + static_cast<int>(canvas.answer_tokens);
  prompt.reference.insert(prompt.reference.end(), answer.begin(), answer.end());
  prompt.reference.resize(static_cast<std::size_t>(prompt.length), tokenizer.separator());
  prompt.text = tokenizer.decode(answer);
  prompt.ends = tokenizer.ends();
  prompt.id = prompt_id(asked.name, prompt);
  return prompt;
}

std::string answer_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas) {
  const auto first = canvas.tokens().begin() + prompt.offset;
  std::vector<Token> tokens(first, std::find_first_of(first, canvas.tokens().end(),
                                                      prompt.ends.begin(), prompt.ends.end()));
  std::erase(tokens, kNoToken);
  return tokenizer.decode(tokens);
}

}  // namespace draftlab
