#include "plugins/models/toy/joint_table.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/prob/chance.h"

namespace draftlab {

void JointTableOptions::declare(OptionSet& set) {
  set.add("vocabulary", &vocabulary).in(2, 8).help("Tokens.");
  set.add("length", &length).in(1, 8).help("Positions of the canvas.");
  set.add("seed", &seed).in(0, 1e15).help("Seed of the table; run.seed does not change it.");
  set.add("concentration", &concentration)
      .in(0.01, 100)
      .help(
          "Concentration of the Dirichlet law that the joint is drawn from; small values give "
          "peaked joints.");
  set.add("marginal", &marginal)
      .help(
          "The law of every position, a weight a token: the joint is then their product, and "
          "concentration says nothing; empty: a joint is drawn.");
}

void JointTableOptions::check(const std::string& model) const {
  if (marginal.empty()) return;
  if (static_cast<std::int64_t>(marginal.size()) != vocabulary)
    throw ConfigError(
        "model.{0}.marginal has {1} weights, but model.{0}.vocabulary is {2}; they must be equal",
        model, marginal.size(), vocabulary);
  if (!std::all_of(marginal.begin(), marginal.end(), [](double weight) { return weight > 0; }))
    throw ConfigError("model.{}.marginal must have weights above 0 only", model);
}

JointTable::JointTable(const JointTableOptions& options, std::uint64_t number, bool product)
    : options_(options) {
  std::size_t cells = 1;
  for (std::int64_t i = 0; i < options_.length; ++i)
    cells *= static_cast<std::size_t>(options_.vocabulary);
  mass_.resize(cells);
  for (std::size_t cell = 0; cell < cells; ++cell)
    mass_[cell] = product && !options_.marginal.empty()
                      ? this->product(cell)
                      : gamma(static_cast<std::int32_t>(cell), number);
}

double JointTable::sum(const std::vector<Token>& fixed) const {
  return weighted([&](std::int32_t position, Token token) {
    return fixed[position] == kNoToken || fixed[position] == token ? 1.0 : 0.0;
  });
}

double JointTable::weighted(const Weight& weight) const { return rest(weight, 0, 0); }

// Returns the sum over what follows the first `position` tokens, which are `cell` in base
// vocabulary.
double JointTable::rest(const Weight& weight, std::int32_t position, std::size_t cell) const {
  if (position == options_.length) return mass_[cell];
  double mass = 0;
  for (Token token = 0; token < options_.vocabulary; ++token) {
    const double factor = weight(position, token);
    const std::size_t next =
        cell * static_cast<std::size_t>(options_.vocabulary) + static_cast<std::size_t>(token);
    if (factor > 0) mass += factor * rest(weight, position + 1, next);
  }
  return mass;
}

// Returns the mass of a text whose positions are independent and of one law.
double JointTable::product(std::size_t cell) const {
  const auto vocabulary = static_cast<std::size_t>(options_.vocabulary);
  double mass = 1;
  for (std::int64_t i = 0; i < options_.length; ++i, cell /= vocabulary)
    mass *= options_.marginal[cell % vocabulary];
  return mass;
}

// Draws a gamma variate of shape `concentration` (Marsaglia and Tsang, 2000, with their boost for
// shapes below one). When normalised, the cells are a draw from the symmetric Dirichlet.
double JointTable::gamma(std::int32_t cell, std::uint64_t number) const {
  const auto seed = static_cast<std::uint64_t>(options_.seed);
  const double d = options_.concentration + 1 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  Site site{.sequence = number, .position = cell, .purpose = Purpose::train};
  const double boost = std::pow(1 - SampledChance::uniform(seed, site), 1 / options_.concentration);
  while (true) {
    SampledChance chance(seed);
    ++site.attempt;
    const double x = chance.normal(site), v = std::pow(1 + c * x, 3);
    ++site.attempt;
    const double u = 1 - SampledChance::uniform(seed, site);
    if (v > 0 && std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return boost * d * v;
  }
}

}  // namespace draftlab
