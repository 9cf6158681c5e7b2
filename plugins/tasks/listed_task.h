// The base of the tasks that keep their prompts in a list.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

class ListedTask : public Task {
 public:
  explicit ListedTask(std::string name) : name_(std::move(name)) {}
  int size() const override { return static_cast<int>(size_); }
  Prompt prompt(int index) const override;
  // The digest of all references and choices, for which all prompts are made.
  std::string digest() const override;

 protected:
  // Begins an empty list: each arm of a sweep loads the task anew. Throws ConfigError where the
  // model has no tokenizer.
  void start(const Tokenizer* tokenizer);
  // Appends a prompt to the list.
  void add(Prompt prompt);
  // Gives the empty list so many prompts, which `make` makes one after the other from 0 on, as far
  // as they are asked for. What it throws, whoever asks for a prompt or for the digest catches.
  void make_when_asked(std::int64_t size, std::function<Prompt(int index)> make);
  const std::string& name() const { return name_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  void keep(Prompt prompt) const;
  void make_until(std::size_t size) const;

  std::string name_;
  std::size_t size_ = 0;
  std::function<Prompt(int)> make_;
  // The prompts that were made so far, and their digest.
  mutable std::vector<Prompt> prompts_;
  mutable std::string digest_;
  const Tokenizer* tokenizer_ = nullptr;
};

}  // namespace draftlab
