// The shape of a tree of drafts that is fixed before anything is drawn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace draftlab {

class TreeShape {
 public:
  // A place in the tree: its level, and for a shape written out its index in level order.
  struct Place {
    std::int64_t level = 0;
    std::size_t index = 0;
  };
  // `children` drafts a node, on the first `wide` levels (0: on all), and one behind them.
  TreeShape(std::int64_t children, std::int64_t wide) : children_(children), wide_(wide) {}
  // The numbers of drafts behind the root and behind each draft, in level order. Throws ConfigError
  // where the text is no such list, or where it says more than its tree has nodes.
  explicit TreeShape(const std::string& text);

  static Place root() { return {}; }
  std::int64_t children(const Place& place) const;
  Place child(const Place& place, std::size_t rank) const;

 private:
  std::int64_t children_ = 1, wide_ = 0;
  // For each node in level order: how many children it has, and the index of the first.
  std::vector<std::int64_t> counts_;
  std::vector<std::size_t> first_;
};

}  // namespace draftlab
