// The passes of decoding that `draftlab bench model` measures, and what each multiplies and reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace draftlab {

// What one pass multiplies and reads, according to config.json. Embeddings are looked up, so they
// count for neither.
struct Work {
  // `attention` is the number of heads times their width.
  std::int64_t width = 0, vocabulary = 0, layers = 0, attention = 0;
  // The products of a row and a key: the score, and the weighted value.
  std::int64_t products = 2;
  // The weights that every row meets.
  std::int64_t always = 0;
  // The weights of all experts, how many experts there are, and how many a row chooses.
  std::int64_t routed = 0, experts = 0, chosen = 0;

  // Reads the folder's config.json; `parameters` are all of the model's.
  Work(const std::string& folder, std::int64_t parameters);
  double operations(const Count& rows, std::int64_t asked, std::int64_t seen) const;
  // Returns the bytes of weights that are read: a row reads its own experts, and all rows together
  // at most all of them.
  double bytes(const Count& rows, std::int64_t asked, double size) const;
};

struct Pass {
  std::string name;
  Kind kind;
  // Without a question, the pass is what the cache needs first.
  std::optional<Question> question;
};

// Returns each model's own passes over `block` positions behind the prompt. A right-shifted model
// knows the first of them already: its step computes a token and asks what follows.
std::vector<Pass> passes(const std::string& model, bool right_shifted, std::int64_t prompt,
                         std::int64_t block);

}  // namespace draftlab
