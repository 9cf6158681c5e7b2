// Draws vector tokens along their reverse steps, several side by side. Drafters and verifiers of
// vectors share these functions.
#pragma once

#include <functional>
#include <vector>

#include "core/parts/asking.h"
#include "core/parts/step.h"

namespace draftlab {

// Asks a model (0: the target) for the laws of reverse steps, in the order of the questions.
// decode.temperature is applied to their deviations.
Asking<std::vector<Mixture>> laws_of(const Step& step, std::vector<Reverse> questions, int model);

// A function that returns the `count` normals for the draw of reverse step `t` of the token at an
// index.
using Normals = std::function<Eigen::VectorXd(std::size_t token, int t, int count)>;

// Returns the normals of one token, whose draws have the address `site` but for its attempt; t =
// steps + 1 is the start. `draw` distinguishes several draws at one position and clock.
Normals normals_at(const Step& step, const Site& site, std::uint32_t draw = 0);

// Makes a token that is yet to be drawn from its condition and its start.
Trajectory begin_token(const Step& step, Eigen::VectorXd condition, int model,
                       const Eigen::VectorXd& start);

// Draws the next states of tokens that all stand at one state, y_t, of one model, down to y_until.
// Each reverse step costs one question.
Asking<bool> draw_down(const Step& step, std::vector<Trajectory>& tokens, int until,
                       const Normals& normals);

}  // namespace draftlab
