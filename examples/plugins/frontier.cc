// A frontier: it says which positions a step may fill, and in which order. This one goes from the
// right end to the left, `width` positions at a time.
#include <algorithm>

#include "core/config/plugin.h"

namespace {

class RightToLeft final : public draftlab::Frontier {
 public:
  struct Options {
    std::int64_t width = 0;
    void declare(draftlab::OptionSet& set) {
      set.add("width", &width).in(0, 4096).help("Positions of a window; 0: all that are left.");
    }
  };
  explicit RightToLeft(const Options& options) : options_(options) {}

  bool done(const draftlab::Canvas& canvas) const override {
    return canvas.prompt_size() + canvas.committed() == canvas.length();
  }

  draftlab::Window next(const draftlab::Canvas& canvas) const override {
    draftlab::Window window;
    window.positions = canvas.masked_positions();
    std::reverse(window.positions.begin(), window.positions.end());
    const auto width = static_cast<std::size_t>(options_.width);
    if (width > 0 && window.positions.size() > width) {
      window.positions.resize(width);
      window.boundary = draftlab::Stop::window_end;
    }
    // All of them may be judged in one chain.
    window.span = static_cast<int>(window.positions.size());
    return window;
  }

 private:
  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.frontiers.add<RightToLeft>("right-to-left", "masked positions from the right end");
}
