// The any-subset order: masked positions left to right, wherever the prompt lies (ASSD, Eq. 4).
#include "core/config/plugin.h"
#include "core/parts/frontier.h"

namespace draftlab {
namespace {

class Lattice final : public Frontier {
 public:
  bool done(const Canvas& canvas) const override {
    return canvas.prompt_size() + canvas.committed() == canvas.length();
  }
  Window next(const Canvas& canvas) const override {
    Window window{.positions = canvas.masked_positions()};
    window.span = static_cast<int>(window.positions.size());
    return window;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(frontier, lattice) {
  registries.frontiers.add<draftlab::Lattice>(
      "lattice", "masked positions left to right around any prompt (ASSD, Eq. 4)");
}
