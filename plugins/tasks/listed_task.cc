#include "plugins/tasks/listed_task.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {

void ListedTask::start(const Tokenizer* tokenizer) {
  if (!tokenizer) throw NoTokenizer(name_);
  tokenizer_ = tokenizer;
  size_ = 0;
  make_ = nullptr;
  prompts_.clear();
  digest_.clear();
}

void ListedTask::add(Prompt prompt) {
  keep(std::move(prompt));
  size_ = prompts_.size();
}

void ListedTask::make_when_asked(std::int64_t size, std::function<Prompt(int)> make) {
  size_ = static_cast<std::size_t>(size);
  make_ = std::move(make);
}

Prompt ListedTask::prompt(int index) const {
  const auto place = static_cast<std::size_t>(index);
  make_until(std::min(place + 1, size_));
  return prompts_.at(place);
}

std::string ListedTask::digest() const {
  make_until(size_);
  return digest_;
}

void ListedTask::make_until(std::size_t size) const {
  while (prompts_.size() < size) keep(make_(static_cast<int>(prompts_.size())));
}

void ListedTask::keep(Prompt prompt) const {
  digest_ = digest_of(prompt.reference, digest_);
  for (const std::vector<Token>& choice : prompt.choices) digest_ = digest_of(choice, digest_);
  prompts_.push_back(std::move(prompt));
}

}  // namespace draftlab
