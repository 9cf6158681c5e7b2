#include "core/parts/task.h"

namespace draftlab {

NoTokenizer::NoTokenizer(const std::string& task)
    : ConfigError("task '{}' decodes text, but the model has no tokenizer", task) {}

}  // namespace draftlab
