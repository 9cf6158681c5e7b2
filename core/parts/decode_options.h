// The config section `decode`: options that several parts read.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/model/blocks.h"
#include "core/model/canvas.h"
#include "core/prob/chance.h"
#include "core/prob/distribution.h"

namespace draftlab {

class OptionSet;

// Where blocks begin: at multiples of the block size, or at the end of the prompt.
enum class Align { position, prompt };
constexpr std::array<std::string_view, 2> words(Align) { return {"position", "prompt"}; }

// What happens after an end-of-text token: decoding goes on, stops at once, or finishes the block.
enum class StopRule { off, token, block };
constexpr std::array<std::string_view, 3> words(StopRule) { return {"off", "token", "block"}; }

// Whether steps are verified that the router would not verify: their verdict is committed, or it is
// only recorded.
enum class Shadow { off, commit, observe };
constexpr std::array<std::string_view, 3> words(Shadow) { return {"off", "commit", "observe"}; }

// Which distribution confidences, margins and entropies of the drafts are read from: the drafter's
// own answer at temperature 1, or the one that was drawn from, after temperature, top-k and top-p.
// Estimators, routers, unmaskers and the trace read the same.
enum class Reads { raw, drawn };
constexpr std::array<std::string_view, 2> words(Reads) { return {"raw", "drawn"}; }

// How many of draft_length drafts a step makes (DraftLength): all of them; as many as Hugging
// Face's schedule says; those up to a draft that is unlikely, which stays or is dropped, or those
// at which the drafter is sure; or as many as promise the most tokens a second.
enum class DraftRule { fixed, matches, likely, likely_dropped, sure, goodput };
constexpr std::array<std::string_view, 6> words(DraftRule) {
  return {"fixed", "matches", "likely", "likely-dropped", "sure", "goodput"};
}

// The options of [decode] of which parts say whether they read them (Part::reads). The loop and the
// models read the others in every arm.
enum class DecodeKey { draft_length, threshold, steps, edit_threshold, post_steps };
constexpr std::array<std::string_view, 5> words(DecodeKey) {
  return {"draft_length", "threshold", "steps", "edit_threshold", "post_steps"};
}

// Config section `decode`: what several parts read is declared here once.
struct DecodeOptions {
  Sampling sampling;
  // The temperature that the draws of a block fall to, or rise; below 0 it stays as it is.
  double temperature_last = -1;
  // Which numbers the draws of drafters and of the target read (Step::draw).
  Noise noise = Noise::own;
  // The number k of drafted tokens, as the papers call it.
  std::int64_t draft_length = 5;
  DraftRule draft_rule = DraftRule::fixed;
  // The threshold of a rule that has one, and whether it adapts as in Draft & Verify.
  double draft_stop = 0.4;
  bool draft_adapts = false;
  // What one draft costs to make, and one more row to verify, in forwards of the target of one row.
  double draft_cost = 0.1, row_cost = 0.05;
  // The block size B; 0 takes the whole canvas as one block.
  std::int64_t block_size = 0;
  // Blocks are decoded in parts of so many positions, left to right; 0 takes them whole.
  std::int64_t sub_block = 0;
  Align align = Align::position;
  // tau: a draft of more than this probability is a confident one.
  double threshold = 0.9;
  // The number S of steps of a block, hence the quota of each; 0 stands for as many steps as the
  // block has positions.
  std::int64_t steps = 0;
  // The threshold tau_edit: a tentative token is replaced by one more probable than this; 1 edits
  // nothing.
  double edit_threshold = 1;
  // How many steps may still edit a block without masks.
  std::int64_t post_steps = 0;
  StopRule stop = StopRule::block;
  // What is taken off the log probability of end-of-text tokens, in nats; the target's law is the
  // one that this leaves.
  double end_penalty = 0;
  // What the probability of a drafted end of text is multiplied by where confidences are read; at 0
  // an end is committed when nothing else is left.
  double end_confidence = 1;
  Shadow shadow = Shadow::off;
  Reads reads = Reads::raw;
  // How many questions a part may ask in one step, before it is taken for one that asks for ever.
  std::int64_t questions = 4096;

  Blocks blocks(const Canvas& canvas) const;
  // How many steps a block of `positions` has by its schedule, and the temperature of its draws
  // when `made` of them are over.
  std::int64_t block_steps(std::int64_t positions) const;
  double temperature(std::int64_t made, std::int64_t positions) const;
  void declare(OptionSet& set);
};

}  // namespace draftlab
