// A tokenizer is a file in the folder of the checkpoint that was trained with it.
#pragma once

#include <memory>
#include <string>

#include "core/task.h"

namespace draftlab {

// Reads `folder`/spiece.model; DataError when it is missing, cannot be read, or has not XLNet's special pieces at 0 to 8.
std::unique_ptr<Tokenizer> open_tokenizer(const std::string& folder);
bool has_tokenizer(const std::string& folder);

}  // namespace draftlab
