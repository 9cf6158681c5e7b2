// Semi-autoregressive blocks: one block is finished before the next begins, and within a block any
// order is possible (S2D2, Sec. 3). A chain may judge the first contiguous run of masks, since what
// lies right of a committed token has been drawn with that token in sight.
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/frontier.h"

namespace draftlab {
namespace {

class BlockwiseOrder final : public Frontier {
 public:
  void begin(const Blocks& blocks, const DecodeOptions& decode) override {
    blocks_ = blocks;
    post_steps_ = decode.edit_threshold < 1 ? decode.post_steps : 0;
    if (blocks.size > 0 && blocks.part > blocks.size)
      throw ConfigError("decode.sub_block = {}, but must be at most decode.block_size = {}",
                        blocks.part, blocks.size);
  }

  bool done(const Canvas& canvas) const override { return current(canvas) == canvas.length(); }

  Window next(const Canvas& canvas) const override {
    const std::int32_t open = current(canvas), first = blocks_.first(open),
                       end = blocks_.end(open, canvas.length());
    Window window{.positions = masks(canvas, first, end),
                  .boundary = Stop::window_end,
                  .block = blocks_.index(open)};
    if (window.positions.empty()) return window;
    const std::int32_t leftmost = window.positions.front();
    window.positions = masks(canvas, leftmost, blocks_.part_end(leftmost, canvas.length()));
    const auto& open_positions = window.positions;
    window.span = 1;
    while (window.span < static_cast<int>(open_positions.size()) &&
           open_positions[window.span] == open_positions[window.span - 1] + 1)
      ++window.span;
    if (open_positions[window.span - 1] + 1 == end) window.boundary = Stop::block_end;
    return window;
  }

  // A block without masks may still be edited until a step changes nothing or the steps for that
  // (decode.post_steps) are used up (LLaDA2.1).
  std::vector<std::int32_t> settled(const Canvas& canvas) const override {
    const std::int32_t open = current(canvas);
    std::vector<std::int32_t> positions;
    if (open == canvas.length()) return positions;
    const std::int32_t first = blocks_.first(open), end = blocks_.end(open, canvas.length());
    if (!masks(canvas, first, end).empty() || (!idle_ && steps_without_masks_ < post_steps_))
      return positions;
    for (std::int32_t i = first; i < end; ++i)
      if (canvas.tentative(i)) positions.push_back(i);
    return positions;
  }

  void observe(const Canvas& canvas, const Route&, const Verdict& verdict) override {
    const std::int32_t open = current(canvas);
    const bool without_masks =
        verdict.commits.empty() && open < canvas.length() &&
        masks(canvas, blocks_.first(open), blocks_.end(open, canvas.length())).empty();
    steps_without_masks_ = without_masks ? steps_without_masks_ + 1 : 0;
    idle_ = without_masks && verdict.edits.empty();
  }
  std::string state() const override {
    return steps_without_masks_ == 0 ? "" : std::to_string(steps_without_masks_);
  }

 private:
  // Returns the first position that is masked or may still be edited, and the canvas's length when
  // none is.
  static std::int32_t current(const Canvas& canvas) {
    std::int32_t position = 0;
    while (position < canvas.length() && !canvas.masked(position) && !canvas.tentative(position))
      ++position;
    return position;
  }
  static std::vector<std::int32_t> masks(const Canvas& canvas, std::int32_t first,
                                         std::int32_t end) {
    std::vector<std::int32_t> positions;
    for (std::int32_t i = first; i < end; ++i)
      if (canvas.masked(i)) positions.push_back(i);
    return positions;
  }

  Blocks blocks_;
  std::int64_t post_steps_ = 0, steps_without_masks_ = 0;
  // Whether the last step had no mask to fill and edited nothing.
  bool idle_ = false;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(frontier, blocks) {
  registries.frontiers.add<draftlab::BlockwiseOrder>(
      "blocks", "one block (decode.block_size) after the other, any order inside it (S2D2)");
}
