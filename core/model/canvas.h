// The sequence that is being decoded: which positions hold a token, and in which order they were
// committed.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

// The order of commitment is part of the state: a model whose generated tokens stay causal (AS-ARM)
// answers differently when the same tokens were committed in another order, or were given as
// prompt. A position that holds a vector has the vector as its value, and token 0.
class Canvas {
 public:
  // `prompt` holds pairs (position, token). Each position is in [0, length) and occurs at most
  // once; anything else is a Fault.
  Canvas(int length, std::span<const std::pair<std::int32_t, Token>> prompt);

  int length() const { return static_cast<int>(tokens_.size()); }
  // The token at a position; kNoToken while it is masked.
  Token token(std::int32_t position) const { return tokens_[position]; }
  // The vector at a position; it is empty where there is none.
  const Eigen::VectorXd& value(std::int32_t position) const;
  bool masked(std::int32_t position) const { return tokens_[position] == kNoToken; }
  // What a model without a mask token reads at a position (ModelFacts::random_canvas): its token,
  // or what a masked position shows; kNoToken where a masked one shows nothing.
  Token shown(std::int32_t position) const;
  // A tentative token may still be edited or taken back; it is not masked and not final.
  bool tentative(std::int32_t position) const { return tentative_[position]; }
  bool given(std::int32_t position) const { return given_[position]; }

  int prompt_size() const { return prompt_size_; }
  // Positions generated so far, in the order of their commitment.
  const std::vector<std::int32_t>& order() const { return order_; }
  int committed() const { return static_cast<int>(order_.size()); }
  // The masked positions in ascending order.
  std::vector<std::int32_t> masked_positions() const;
  const std::vector<Token>& tokens() const { return tokens_; }

  // Writes a token to a masked position. A position that is not masked is a Fault.
  void commit(std::int32_t position, Token token, bool tentative = false,
              Eigen::VectorXd value = {});
  // Replaces a tentative token. A position that is not tentative is a Fault.
  void edit(std::int32_t position, Token token);
  // Removes a tentative token: the position is masked again, and no longer in the order of
  // commitment. A position that is not tentative is a Fault.
  void take_back(std::int32_t position);
  // Says what a masked position shows. A position that is not masked is a Fault.
  void show(std::int32_t position, Token token);
  // Says that the position will not be edited any more, nor taken back.
  void finish(std::int32_t position) { tentative_[position] = false; }
  // A text that two canvases of one prompt must share for every later question to have the same
  // answer.
  std::string key() const;

 private:
  std::vector<Token> tokens_;
  // What masked positions show, once one shows anything; empty before.
  std::vector<Token> shown_;
  std::vector<char> given_, tentative_;
  std::vector<std::int32_t> order_;
  // The vectors of all positions, once there is one; empty before.
  std::vector<Eigen::VectorXd> values_;
  int prompt_size_ = 0;
};

}  // namespace draftlab
