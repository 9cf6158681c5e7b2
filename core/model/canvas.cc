#include "core/model/canvas.h"

#include <cstdio>

#include "core/base/error.h"

namespace draftlab {

Canvas::Canvas(int length, std::span<const std::pair<std::int32_t, Token>> prompt)
    : tokens_(length, kNoToken),
      given_(length, 0),
      tentative_(length, 0),
      prompt_size_(static_cast<int>(prompt.size())) {
  for (const auto& [position, token] : prompt) {
    const std::string where = "prompt position " + std::to_string(position);
    if (position < 0 || position >= length)
      throw Fault("{} lies outside a canvas of {}", where, length);
    if (given_[position]) throw Fault("{} is given twice", where);
    if (token < 0) throw Fault("{} holds {}, which is no token", where, token);
    tokens_[position] = token;
    given_[position] = 1;
  }
}

std::vector<std::int32_t> Canvas::masked_positions() const {
  std::vector<std::int32_t> positions;
  for (std::int32_t i = 0; i < length(); ++i)
    if (masked(i)) positions.push_back(i);
  return positions;
}

const Eigen::VectorXd& Canvas::value(std::int32_t position) const {
  static const Eigen::VectorXd none;
  return values_.empty() ? none : values_[position];
}

Token Canvas::shown(std::int32_t position) const {
  return shown_.empty() || !masked(position) ? tokens_[position] : shown_[position];
}

void Canvas::show(std::int32_t position, Token token) {
  if (position < 0 || position >= length() || !masked(position))
    throw Fault("position {} was to show token {}, but it is not masked", position, token);
  if (token < 0) throw Fault("position {} was to show no token", position);
  shown_.resize(tokens_.size(), kNoToken);
  shown_[position] = token;
}

void Canvas::commit(std::int32_t position, Token token, bool tentative, Eigen::VectorXd value) {
  if (position < 0 || position >= length() || !masked(position))
    throw Fault("token {} was committed to position {}, which is not masked", token, position);
  if (token < 0) throw Fault("position {} was committed without a token", position);
  tokens_[position] = token;
  tentative_[position] = tentative;
  order_.push_back(position);
  if (value.size() == 0) return;
  values_.resize(tokens_.size());
  values_[position] = std::move(value);
}

void Canvas::edit(std::int32_t position, Token token) {
  if (position < 0 || position >= length() || !tentative_[position])
    throw Fault("position {} was edited, but it is not tentative", position);
  if (token < 0) throw Fault("position {} was edited without a token", position);
  tokens_[position] = token;
}

void Canvas::take_back(std::int32_t position) {
  if (position < 0 || position >= length() || !tentative_[position])
    throw Fault("position {} was taken back, but it is not tentative", position);
  tokens_[position] = kNoToken;
  tentative_[position] = false;
  if (!shown_.empty()) shown_[position] = kNoToken;
  if (!values_.empty()) values_[position].resize(0);
  std::erase(order_, position);
}

std::string Canvas::key() const {
  std::string key;
  for (const std::int32_t position : order_) {
    key += std::to_string(position) + (tentative_[position] ? '~' : ':') +
           std::to_string(tokens_[position]) + ' ';
    for (const double x : value(position)) {
      char number[32];
      std::snprintf(number, sizeof number, "%.17g ", x);
      key += number;
    }
  }
  for (std::int32_t i = 0; i < length() && !shown_.empty(); ++i)
    if (masked(i)) key += std::to_string(i) + '?' + std::to_string(shown_[i]) + ' ';
  return key;
}

}  // namespace draftlab
