#include "core/loop/checked_task.h"

#include "core/loop/contract.h"
#include "core/prob/chance.h"

namespace draftlab {
namespace {

std::uint64_t hash_of(const Prompt& prompt) {
  std::string text = prompt.id + "\n" + prompt.text + "\n" + std::to_string(prompt.length) + " " +
                     std::to_string(prompt.offset);
  for (const auto& [position, token] : prompt.given)
    text += " " + std::to_string(position) + ":" + std::to_string(token);
  const auto add = [&](const std::vector<Token>& tokens) {
    text += "\n";
    for (const Token token : tokens) text += std::to_string(token) + " ";
  };
  add(prompt.reference);
  add(prompt.ends);
  for (const std::vector<Token>& choice : prompt.choices) add(choice);
  return stable_hash(text);
}

}  // namespace

void CheckedTask::load(const Tokenizer* tokenizer) {
  in_name_of(author_, [&] { task_->load(tokenizer); });
  if (task_->size() < 0) author_.blame("has {} prompts", task_->size());
}

void CheckedTask::begin_digest() {
  digest_ = std::async(std::launch::async, [this] { return task_->digest(); }).share();
}

std::string CheckedTask::digest() const {
  return digest_.valid() ? digest_.get() : task_->digest();
}

const Task& CheckedTask::task() const {
  if (digest_.valid()) digest_.wait();
  return *task_;
}

Prompt CheckedTask::prompt(int index) const {
  Prompt prompt = in_name_of(author_, [&] { return task().prompt(index); });
  check_prompt(author_, prompt);
  const std::uint64_t hash = hash_of(prompt);
  if (seen_.emplace(index, hash).first->second != hash)
    author_.blame("hands out another prompt {} ('{}') than before", index, prompt.id);
  return prompt;
}

std::vector<Score> CheckedTask::score(const Prompt& prompt, const Canvas& canvas) const {
  std::vector<Score> scores = in_name_of(author_, [&] { return task().score(prompt, canvas); });
  check_scores(author_, scores);
  return scores;
}

std::string CheckedTask::text(const Prompt& prompt, const Canvas& canvas) const {
  return in_name_of(author_, [&] { return task().text(prompt, canvas); });
}

}  // namespace draftlab
