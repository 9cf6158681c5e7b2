// A joint law of a text of a few tokens, written down as a mass for each text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/config/options.h"
#include "core/prob/types.h"

namespace draftlab {

// The options that say which joint it is.
struct JointTableOptions {
  std::int64_t vocabulary = 3, length = 5, seed = 7;
  double concentration = 0.7;
  std::vector<double> marginal;

  void declare(OptionSet& set);
  // Throws ConfigError naming the rule that an option of `model` breaks.
  void check(const std::string& model) const;
};

class JointTable {
 public:
  // Tables of one seed and different numbers are independent. `product` says whether `marginal`, if
  // there is one, is the law of every position.
  JointTable(const JointTableOptions& options, std::uint64_t number, bool product = true);

  std::size_t cells() const { return mass_.size(); }
  // Returns the mass of all texts that agree with `fixed` where it holds a token.
  double sum(const std::vector<Token>& fixed) const;
  // Returns the sum over all texts of their mass times the product of weight(position, token).
  using Weight = std::function<double(std::int32_t position, Token token)>;
  double weighted(const Weight& weight) const;

 private:
  double rest(const Weight& weight, std::int32_t position, std::size_t cell) const;
  double gamma(std::int32_t cell, std::uint64_t number) const;
  double product(std::size_t cell) const;

  JointTableOptions options_;
  // The masses are not normalised. The index is the text as a number in base vocabulary, first
  // position first.
  std::vector<double> mass_;
};

}  // namespace draftlab
