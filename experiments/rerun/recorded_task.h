// The prompts of a trace as a task, so that they are decoded again without the task's own data. It
// scores nothing.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/parts/task.h"

namespace draftlab {

class RecordedTask final : public Task {
 public:
  // Prompts by their index in the task that handed them out.
  explicit RecordedTask(std::map<int, Prompt> prompts) : prompts_(std::move(prompts)) {}
  void load(const Tokenizer*) override {}
  int size() const override { return prompts_.empty() ? 0 : prompts_.rbegin()->first + 1; }
  Prompt prompt(int index) const override { return prompts_.at(index); }
  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }

 private:
  std::map<int, Prompt> prompts_;
};

}  // namespace draftlab
