// The autoregressive order: the prompt is a prefix, the rest follows left to right.
#include "core/config/plugin.h"
#include "core/parts/frontier.h"

namespace draftlab {
namespace {

class LeftToRight final : public Frontier {
 public:
  void check(const Canvas& canvas) const override {
    for (std::int32_t i = 0; i < canvas.prompt_size(); ++i) {
      if (canvas.given(i)) continue;
      throw ConfigError(
          "frontier = left-to-right needs a prompt that is a prefix, but position {} is masked "
          "before a given one; use frontier = lattice",
          i);
    }
  }
  bool done(const Canvas& canvas) const override {
    return canvas.prompt_size() + canvas.committed() == canvas.length();
  }
  Window next(const Canvas& canvas) const override {
    Window window;
    for (std::int32_t i = canvas.prompt_size() + canvas.committed(); i < canvas.length(); ++i)
      window.positions.push_back(i);
    window.span = static_cast<int>(window.positions.size());
    return window;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(frontier, left_to_right) {
  registries.frontiers.add<draftlab::LeftToRight>(
      "left-to-right", "the autoregressive order: a prefix, then position by position");
}
