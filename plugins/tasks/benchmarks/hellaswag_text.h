// HellaSwag's questions as text (Zellers et al., 2019; cleaned as the evaluations of DiffuLLaMA and
// others do).
#pragma once

#include <string>
#include <vector>

namespace draftlab {

struct EndingChoice {
  std::string id, context;  // "Removing ice from car: Then, the man writes over the snow. He"
  std::vector<std::string> endings;  // four
  int label = 0;                     // the right one
};

// `activity_label`, `ctx_a`, `ctx_b`, `endings`, `label`; DataError naming the line.
std::vector<EndingChoice> parse_hellaswag(const std::string& text, const std::string& name);

// " [title]" ends a sentence, other [brackets] go, and so do doubled spaces.
std::string without_brackets(std::string text);

}  // namespace draftlab
