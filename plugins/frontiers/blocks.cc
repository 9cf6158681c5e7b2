// Semi-autoregressive blocks: one block is finished before the next begins, and within a block any
// order is possible (S2D2, Sec. 3). A chain may judge the first contiguous run of masks, since what
// lies right of a committed token has been drawn with that token in sight. A block may also begin
// while those before it are unfinished (d3LLM, 2025): the window then spans several blocks, of
// which the first is owed tokens and the others may be given some. That takes a model that sees the
// whole canvas.
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/frontier.h"

namespace draftlab {
namespace {

class BlockwiseOrder final : public Frontier {
 public:
  struct Options {
    std::int64_t at_once = 1;
    double share = 0.5;
    void declare(OptionSet& set) {
      set.add("at_once", &at_once).in(1, 4096).help("Blocks that may be open at once.");
      set.add("share", &share)
          .in(0, 1)
          .help("With more than one: the share of a block that is filled when the next one opens.");
    }
  };
  explicit BlockwiseOrder(const Options& options) : options_(options) {}

  std::vector<DecodeKey> reads() const override {
    return {DecodeKey::edit_threshold, DecodeKey::post_steps};
  }
  void begin(const Blocks& blocks, const DecodeOptions& decode) override {
    blocks_ = blocks;
    post_steps_ = decode.edit_threshold < 1 ? decode.post_steps : 0;
    if (blocks.size > 0 && blocks.part > blocks.size)
      throw ConfigError("decode.sub_block = {}, but must be at most decode.block_size = {}",
                        blocks.part, blocks.size);
  }

  bool settles() const override { return true; }
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
    std::int32_t last = first, last_end = end;
    for (std::int64_t count = 1; count < options_.at_once && last_end < canvas.length(); ++count) {
      const auto left = static_cast<double>(masks(canvas, last, last_end).size());
      if (1 - left / (last_end - last) < options_.share) break;
      last = last_end, last_end = blocks_.end(last, canvas.length());
      const std::vector<std::int32_t> more = masks(canvas, last, last_end);
      window.positions.insert(window.positions.end(), more.begin(), more.end());
    }
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
    // Blocks behind it that were filled while it was open are settled with it.
    std::int32_t full = end;
    while (full < canvas.length() && post_steps_ == 0 && options_.at_once > 1) {
      const std::int32_t next = blocks_.end(full, canvas.length());
      if (!masks(canvas, full, next).empty()) break;
      full = next;
    }
    for (std::int32_t i = first; i < full; ++i)
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

  Options options_;
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
