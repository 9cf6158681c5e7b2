// A task whose prompts and scores are checked before anybody decodes or records them.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>

#include "core/base/author.h"
#include "core/parts/task.h"

namespace draftlab {

// A prompt is asked for once an arm and sample, and must be the same each time: arms are compared
// prompt by prompt.
class CheckedTask final : public Task {
 public:
  CheckedTask(std::unique_ptr<Task> task, Author author)
      : task_(std::move(task)), author_(std::move(author)) {}
  void load(const Tokenizer* tokenizer) override;
  // Begins to compute the digest, for which a task may make all its prompts, in a thread of its
  // own. Whoever asks for anything of the task waits for it.
  void begin_digest();
  int size() const override { return task().size(); }
  Prompt prompt(int index) const override;
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override;
  std::string text(const Prompt& prompt, const Canvas& canvas) const override;
  std::string digest() const override;

 private:
  const Task& task() const;

  std::unique_ptr<Task> task_;
  Author author_;
  // Hashes of the prompts that were handed out.
  mutable std::map<int, std::uint64_t> seen_;
  // The digest that was begun. It ends before `task_` does.
  std::shared_future<std::string> digest_;
};

}  // namespace draftlab
