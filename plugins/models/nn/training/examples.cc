#include "plugins/models/nn/training/examples.h"

#include <algorithm>

#include "core/base/error.h"

namespace draftlab {

std::vector<WorkedExample> worked_examples(const Task& task, Token end) {
  std::vector<WorkedExample> examples;
  for (int i = 0; i < task.size(); ++i) {
    const Prompt prompt = task.prompt(i);
    const auto given = static_cast<std::int32_t>(prompt.given.size());
    for (std::int32_t j = 0; j < given; ++j) {
      if (prompt.given[j].first == j) continue;
      throw ConfigError(
          "task: prompt {} gives position {} but not position {}; this trainer wants prompts that "
          "a canvas begins with",
          prompt.id, prompt.given[j].first, j);
    }
    if (given == 0 || static_cast<int>(prompt.reference.size()) <= given)
      throw ConfigError("task: prompt {} has no answer to train on", prompt.id);
    const auto stop = std::find(prompt.reference.begin() + given, prompt.reference.end(), end);
    examples.push_back(
        {{prompt.reference.begin(), stop == prompt.reference.end() ? stop : stop + 1}, given});
  }
  return examples;
}

}  // namespace draftlab
