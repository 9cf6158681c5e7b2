// Reads HellaSwag's questions as text (Zellers et al., 2019), cleaned as the evaluations of
// DiffuLLaMA and others clean them.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

struct EndingChoice {
  // A context such as "Removing ice from car: Then, the man writes over the snow. He".
  std::string id, context;
  // There are four endings.
  std::vector<std::string> endings;
  // The index of the right ending.
  int label = 0;
};

// Reads the keys `activity_label`, `ctx_a`, `ctx_b`, `endings` and `label`. Throws DataError naming
// the line.
std::vector<EndingChoice> parse_hellaswag(const std::string& text, const std::string& name);

// Removes brackets: " [title]" ends a sentence, other [brackets] are dropped, and so are doubled
// spaces.
std::string without_brackets(std::string text);

}  // namespace draftlab
