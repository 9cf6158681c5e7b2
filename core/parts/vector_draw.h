// Drawing vector tokens along their reverse steps, several side by side: what drafters and
// verifiers of vectors share.
#pragma once

#include <functional>
#include <vector>

#include "core/parts/asking.h"
#include "core/parts/step.h"

namespace draftlab {

// The laws of reverse steps under a model (0: the target), in the order of the questions, with
// decode.temperature in their deviations.
Asking<std::vector<Mixture>> laws_of(const Step& step, std::vector<Reverse> questions, int model);

// The normals of the draw by reverse step `t` of the token at an index; `count` of them.
using Normals = std::function<Eigen::VectorXd(std::size_t token, int t, int count)>;

// Normals at sites of a purpose at the tokens' positions; t = steps + 1 is the start. `draw` tells
// several draws at one position and clock apart.
Normals normals_at(const Step& step, std::vector<std::int32_t> positions, Purpose purpose,
                   std::uint32_t clock, std::uint32_t draw = 0);

// A token that is yet to be drawn: its condition, and its start from `normals`.
Trajectory begin_token(const Step& step, Eigen::VectorXd condition, int model,
                       const Eigen::VectorXd& start, bool final_noise = true);

// Draws the next states of tokens that stand at one state, y_t, of one model, down to y_until. One
// reverse question a step.
Asking<bool> draw_down(const Step& step, std::vector<Trajectory>& tokens, int until,
                       const Normals& normals);

}  // namespace draftlab
