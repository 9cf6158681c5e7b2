// Texts cut into canvases, which the tasks `infill` and `prefix` decode.
#pragma once

#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/parts/task.h"

namespace draftlab {

struct PassageOptions {
  std::string source = "stories", path, field = "text", documents = "lines", packing = "documents",
              split = "test";
  std::int64_t length = 128, least = 16, count = 1000, seed = 1;
  bool begin = true;
  void declare(OptionSet& set);
};

struct Passage {
  std::string id;
  // The tokens, with <s> in front where the canvas begins with it.
  std::vector<Token> tokens;
};

struct Passages {
  std::vector<Passage> items;
  // The digest of all tokens.
  std::string digest;
};

// Reads the passages. Throws ConfigError when there is no tokenizer, or no path where one is
// needed, and DataError when the data yields no passage.
Passages read_passages(const PassageOptions& options, const Tokenizer* tokenizer,
                       const std::string& task);

}  // namespace draftlab
