// The base of the tasks that list all their prompts when they are loaded.
#pragma once

#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

class ListedTask : public Task {
 public:
  explicit ListedTask(std::string name) : name_(std::move(name)) {}
  int size() const override { return static_cast<int>(prompts_.size()); }
  Prompt prompt(int index) const override { return prompts_.at(static_cast<std::size_t>(index)); }
  std::string digest() const override { return digest_; }

 protected:
  // Begins an empty list: each arm of a sweep loads the task anew. Throws ConfigError where the
  // model has no tokenizer.
  void start(const Tokenizer* tokenizer);
  // Appends a prompt to the list. The digest is that of all references and choices.
  void add(Prompt prompt);
  const std::string& name() const { return name_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  std::string name_;
  std::vector<Prompt> prompts_;
  std::string digest_;
  const Tokenizer* tokenizer_ = nullptr;
};

}  // namespace draftlab
