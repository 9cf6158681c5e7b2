#include "plugins/tasks/listed_task.h"

#include "core/base/error.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {

void ListedTask::start(const Tokenizer* tokenizer) {
  if (!tokenizer) throw NoTokenizer(name_);
  tokenizer_ = tokenizer;
  prompts_.clear();
  digest_.clear();
}

void ListedTask::add(Prompt prompt) {
  digest_ = digest_of(prompt.reference, digest_);
  for (const std::vector<Token>& choice : prompt.choices) digest_ = digest_of(choice, digest_);
  prompts_.push_back(std::move(prompt));
}

}  // namespace draftlab
