// The examples that an any-subset model is trained on: which positions are prompt, in which order
// the others are generated, and how the share of masked positions is drawn (ASSD, Sec. 6). This
// file needs no torch.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/models/nn/training/schedules.h"

namespace draftlab {

// The rank of each position. Positions of ranks below `prompt` see each other; a later rank sees
// the prompt and every rank before its own.
struct Arrangement {
  std::vector<std::int32_t> rank;
  std::int32_t prompt = 0;
  // For each position: how many ranks before its own its query does not see. It is empty where
  // queries see all of them.
  std::vector<std::int32_t> ahead = {};
};

// Each returns the first rank that a position's row does not see: its content row, or the query row
// that predicts it. A query of a prompt position is never scored; its limit only keeps its row from
// being empty.
std::int32_t content_limit(const Arrangement& arrangement, std::int32_t position);
std::int32_t query_limit(const Arrangement& arrangement, std::int32_t position);

// How the prompt's positions lie on the canvas.
enum class PromptShape { scattered, prefix, spans };

// Draws which positions are given: `prompt` of `length`, with 1 <= prompt < length. Position 0, the
// begin token, is always given, so every query sees something. `scattered` draws any other
// positions, `prefix` takes the first ones, and `spans` takes all but one to three contiguous
// spans.
std::vector<char> draw_prompt(int length, int prompt, PromptShape shape, const Uniforms& uniform);

// The lattice decomposition: prompt and generated positions are each in ascending order, so that a
// set of visible tokens has one order (Eq. 4). With `any_permutation` the generated positions are
// shuffled (the ablation of Fig. 3).
Arrangement arrange(const std::vector<char>& given, bool any_permutation, const Uniforms& uniform);

// Lets a `share` of the generated positions be asked 1 to `most` ranks early. This is the question
// of a draft, p(x_i | prompt, ranks before n) with n < i. On the lattice alone a query always sees
// everything to its left, so a model trained from scratch on nothing else never learns to draft;
// the authors' model had learnt it from XLNet's permutations.
void ask_ahead(Arrangement& arrangement, double share, int most, const Uniforms& uniform);

// The interval of mask rates widens linearly from [start, start] to [low, high] over `warmup`
// steps.
struct MaskSchedule {
  double start = 0.15, low = 0.15, high = 0.9;
  std::int64_t warmup = 0;
  double rate(double u, std::int64_t step) const;
};
// Returns the prompt tokens left at a mask rate: at least one, and at least one position is masked.
int prompt_size(double mask_rate, int length);

}  // namespace draftlab
