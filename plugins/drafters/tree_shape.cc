#include "plugins/drafters/tree_shape.h"

#include <sstream>

#include "core/base/error.h"

namespace draftlab {

TreeShape::TreeShape(const std::string& text) {
  constexpr std::int64_t kMost = 64;
  std::istringstream words(text);
  std::size_t nodes = 1;
  for (std::string word; words >> word;) {
    if (word.size() > 2 || word.find_first_not_of("0123456789") != std::string::npos ||
        std::stoll(word) > kMost)
      throw ConfigError("shape = {} has '{}', which is no number of drafts from 0 to {}", text,
                        word, kMost);
    if (counts_.size() == nodes)
      throw ConfigError(
          "shape = {} has a number behind its last node; {} of its numbers make a tree", text,
          nodes);
    counts_.push_back(std::stoll(word));
    first_.push_back(nodes);
    nodes += static_cast<std::size_t>(counts_.back());
  }
  if (nodes == 1) throw ConfigError("shape = {} has no draft", text);
}

std::int64_t TreeShape::children(const Place& place) const {
  if (counts_.empty()) return wide_ == 0 || place.level < wide_ ? children_ : 1;
  return place.index < counts_.size() ? counts_[place.index] : 0;
}

TreeShape::Place TreeShape::child(const Place& place, std::size_t rank) const {
  return {place.level + 1, counts_.empty() ? 0 : first_[place.index] + rank};
}

}  // namespace draftlab
