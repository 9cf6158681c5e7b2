#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

std::unique_ptr<Frontier> blocks(const DecodeOptions& decode, const Canvas& canvas,
                                 const std::string& options = "") {
  auto frontier = testing::part(&Registries::frontiers, "blocks", options);
  frontier->begin(decode.blocks(canvas), decode);
  return frontier;
}

using Positions = std::vector<std::int32_t>;

TEST_CASE("the window is the first unfinished block, its span the first run of masks") {
  const std::vector<std::pair<std::int32_t, Token>> prompt{{0, 1}};
  Canvas canvas(10, prompt);
  DecodeOptions decode;
  decode.block_size = 4;
  const auto frontier = blocks(decode, canvas);

  Window window = frontier->next(canvas);
  CHECK(window.positions == Positions{1, 2, 3});
  CHECK(window.span == 3);
  CHECK(window.boundary == Stop::block_end);
  CHECK(window.block == 0);

  canvas.commit(2, 0);
  window = frontier->next(canvas);
  CHECK(window.positions == Positions{1, 3});
  CHECK(window.span == 1);
  CHECK(window.boundary == Stop::window_end);

  canvas.commit(1, 0);
  canvas.commit(3, 0);
  window = frontier->next(canvas);
  CHECK(window.positions == Positions{4, 5, 6, 7});
  CHECK(window.block == 1);
  for (const std::int32_t i : {4, 5, 6, 7}) canvas.commit(i, 0);
  window = frontier->next(canvas);
  CHECK(window.positions == Positions{8, 9});  // What is left of the canvas is a short block.
  CHECK(window.boundary == Stop::block_end);
  CHECK_FALSE(frontier->done(canvas));
  canvas.commit(8, 0);
  canvas.commit(9, 0);
  CHECK(frontier->done(canvas));
}

TEST_CASE("a block may open when half of the one before it is filled") {
  Canvas canvas(10, {});
  DecodeOptions decode;
  decode.block_size = 4;
  const auto two = blocks(decode, canvas, "at_once = 2"),
             three = blocks(decode, canvas, "at_once = 3"),
             late = blocks(decode, canvas, "at_once = 2\nshare = 0.75");
  CHECK(two->next(canvas).positions == Positions{0, 1, 2, 3});
  canvas.commit(1, 0, true);
  canvas.commit(2, 0, true);
  const Window window = two->next(canvas);
  CHECK(window.positions == Positions{0, 3, 4, 5, 6, 7});
  CHECK(window.block == 0);
  CHECK(window.span == 1);
  CHECK(late->next(canvas).positions == Positions{0, 3});
  for (const std::int32_t i : {4, 5, 6, 7}) canvas.commit(i, 0, true);
  CHECK(two->next(canvas).positions == Positions{0, 3});
  CHECK(three->next(canvas).positions == Positions{0, 3, 8, 9});
  CHECK(two->settled(canvas).empty());
  canvas.commit(0, 0, true);
  canvas.commit(3, 0, true);
  CHECK(two->settled(canvas) == Positions{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(blocks(decode, canvas)->settled(canvas) == Positions{0, 1, 2, 3});
}

TEST_CASE("blocks may begin where the prompt ends") {
  const std::vector<std::pair<std::int32_t, Token>> prompt{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}};
  const Canvas canvas(12, prompt);
  DecodeOptions decode;
  decode.block_size = 4;
  CHECK(blocks(decode, canvas)->next(canvas).positions == Positions{5, 6, 7});
  decode.align = Align::prompt;
  CHECK(blocks(decode, canvas)->next(canvas).positions == Positions{5, 6, 7, 8});
  CHECK(blocks(decode, canvas)->next(canvas).block == 2);  // That is 0 | 1-4 | 5-8.
}

TEST_CASE("a sub-block ends the window but not the block") {
  Canvas canvas(8, {});
  DecodeOptions decode;
  decode.block_size = 4;
  decode.sub_block = 2;
  const auto frontier = blocks(decode, canvas);
  CHECK(frontier->next(canvas).positions == Positions{0, 1});
  CHECK(frontier->next(canvas).boundary == Stop::window_end);
  canvas.commit(0, 1);
  canvas.commit(1, 1);
  CHECK(frontier->next(canvas).positions == Positions{2, 3});
  CHECK(frontier->next(canvas).boundary == Stop::block_end);
  decode.sub_block = 5;
  CHECK_THROWS_WITH_AS(blocks(decode, canvas),
                       "decode.sub_block = 5, but must be at most decode.block_size = 4",
                       ConfigError);
}

// Two blocks of two; three steps may edit a block without masks.
TEST_CASE("a block is edited until a step without masks changes nothing") {
  Canvas canvas(4, {});
  DecodeOptions decode;
  decode.block_size = 2;
  decode.edit_threshold = 0.5;
  decode.post_steps = 3;
  const auto frontier = blocks(decode, canvas);
  const auto committed = [](std::initializer_list<Commit> commits) {
    return Verdict{
        .commits = commits, .edits = {}, .why = Stop::complete, .carry = {}, .judged = {}};
  };
  const auto edited = [](std::initializer_list<Commit> edits) {
    return Verdict{.commits = {}, .edits = edits, .why = Stop::complete, .carry = {}, .judged = {}};
  };

  canvas.commit(0, 1, true);
  canvas.commit(1, 1, true);
  frontier->observe(canvas, {}, committed({{0, 1}, {1, 1}}));
  CHECK(frontier->settled(canvas).empty());
  CHECK(frontier->next(canvas).positions.empty());  // A step that can only edit.
  CHECK(frontier->next(canvas).block == 0);
  frontier->observe(canvas, {}, edited({{0, 2}}));
  CHECK(frontier->settled(canvas).empty());
  CHECK(frontier->state() == "1");
  frontier->observe(canvas, {}, edited({}));  // Nothing changed.
  CHECK(frontier->settled(canvas) == Positions{0, 1});
  for (const std::int32_t i : frontier->settled(canvas)) canvas.finish(i);

  CHECK(frontier->next(canvas).positions == Positions{2, 3});
  canvas.commit(2, 1, true);
  canvas.commit(3, 1, true);
  frontier->observe(canvas, {}, committed({{2, 1}, {3, 1}}));
  for (int step = 0; step < 2; ++step) {
    frontier->observe(canvas, {}, edited({{2, step}}));
    CHECK(frontier->settled(canvas).empty());
  }
  CHECK_FALSE(frontier->done(canvas));
  frontier->observe(canvas, {}, edited({{2, 2}}));  // This is the third step, and the last.
  CHECK(frontier->settled(canvas) == Positions{2, 3});
  for (const std::int32_t i : frontier->settled(canvas)) canvas.finish(i);
  CHECK(frontier->done(canvas));
}

TEST_CASE("without steps for it a full block is final at once") {
  Canvas canvas(2, {});
  DecodeOptions decode;
  decode.block_size = 2;
  decode.edit_threshold = 0.5;
  const auto frontier = blocks(decode, canvas);
  canvas.commit(0, 1, true);
  frontier->observe(
      canvas, {},
      {.commits = {{0, 1}}, .edits = {}, .why = Stop::complete, .carry = {}, .judged = {}});
  CHECK(frontier->settled(canvas).empty());
  canvas.commit(1, 1, true);
  frontier->observe(
      canvas, {},
      {.commits = {{1, 1}}, .edits = {}, .why = Stop::complete, .carry = {}, .judged = {}});
  CHECK(frontier->settled(canvas) == Positions{0, 1});
}

}  // namespace
}  // namespace draftlab
