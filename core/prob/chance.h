// The only source of randomness. Every random number is addressed by the decision it makes, so
// results do not depend on the thread count, the batch, a resume or what ran before, and every
// outcome of a decoder can be enumerated.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/prob/distribution.h"

namespace draftlab {

// The address of one random number. `sequence` is a hash of prompt and sample index, never a batch
// row. `clock` is the step, except for a stepwise choice, whose clock is the number of tokens
// committed in the state that chooses.
struct Site {
  std::uint64_t sequence = 0;
  std::int32_t position = 0;
  Purpose purpose = Purpose::draft;
  std::uint32_t clock = 0;
  std::uint32_t attempt = 0;
  auto operator<=>(const Site&) const = default;
};
std::string to_string(const Site& site);

// Which random numbers the target and its drafters read at a position: each draw its own; or one
// number that they share, from which a token is made through the inverse cumulative distribution in
// the order of ids, or by Gumbel noise, a number a token.
enum class Noise { own, uniform, gumbel };
constexpr std::array<std::string_view, 3> words(Noise) { return {"own", "uniform", "gumbel"}; }

class Chance {
 public:
  virtual ~Chance() = default;
  // Draws a token of `distribution`.
  Token draw(const Distribution& distribution, const Site& site);
  // Draws a token by a number that others read, too, with distributions of their own: equal
  // distributions give equal tokens, and similar ones often do. `noise` says how it becomes a
  // token.
  Token draw_shared(const Distribution& distribution, const Site& site, Noise noise);
  // Returns true with the given probability: one uniform u is drawn, and u < probability decides.
  bool below(double probability, const Site& site);
  // Compares the same uniform with each of several probabilities.
  std::vector<bool> below(std::span<const double> probabilities, const Site& site);
  // Draws a standard normal. An implementation that enumerates refuses with a Fault.
  double normal(const Site& site);

 protected:
  virtual Token choose(const Distribution& distribution, const Site& site) = 0;
  virtual Token read(const Distribution& distribution, const Site& site, Noise noise) = 0;
  virtual std::vector<bool> compare(std::span<const double> probabilities, const Site& site) = 0;
  virtual double gaussian(const Site& site) = 0;
  // Forgets which sites were used, because a new decode begins.
  void restart() { used_.clear(); }

 private:
  // Throws a Fault when the site was drawn before in this decode.
  void use(const Site& site);
  struct Hash {
    std::size_t operator()(const Site& site) const;
  };
  std::unordered_set<Site, Hash> used_;
};

// Philox 4x32-10 (Salmon et al., SC 2011) maps a counter and a key to 128 random bits.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

// Draws counter-based random numbers (Philox 4x32-10), keyed by seed and site. One decode has one
// object.
class SampledChance final : public Chance {
 public:
  explicit SampledChance(std::uint64_t seed) : seed_(seed) {}
  // Returns the uniform in [0, 1) at a site, without marking the site as used.
  static double uniform(std::uint64_t seed, const Site& site);

 private:
  Token choose(const Distribution& distribution, const Site& site) override;
  Token read(const Distribution& distribution, const Site& site, Noise noise) override;
  std::vector<bool> compare(std::span<const double> probabilities, const Site& site) override;
  double gaussian(const Site& site) override;
  std::uint64_t seed_;
};

// Walks every outcome of a procedure, one at a time, depth first, by replaying a prefix of choices:
//   do { chance.begin(); ...procedure...; use chance.weight(); } while (chance.next());
// `forced` choices are replayed first and never varied, so a walk can start from the middle of a
// decode. Outcomes less likely than kNegligible at a single choice are dropped, and their mass is
// added up.
class EnumeratedChance final : public Chance {
 public:
  static constexpr double kNegligible = 1e-13;
  explicit EnumeratedChance(std::vector<int> forced = {}) : forced_(std::move(forced)) {}
  void begin();
  // Goes on to the next outcome. Returns false when every outcome has been walked.
  bool next();
  // Begins one outcome alone, whose choices are made evenly among the possible ones by the number
  // of the trial. The mean of branches() over many trials estimates how many outcomes there are
  // (Knuth, 1975).
  void probe(std::uint64_t trial);
  // The product of the numbers of possible choices along this outcome, without the forced ones.
  double branches() const;
  // The probability of this outcome, given the forced choices.
  double weight() const { return weight_; }
  // The choices that lead to this outcome, including the forced ones.
  std::vector<int> choices() const;
  // What this outcome says of the shared numbers at the positions that are still `open`: later
  // steps may read them again, so outcomes that say different things have different futures.
  std::string known(const std::function<bool(std::int32_t position)>& open) const;
  // The probability mass that was dropped, over all outcomes walked so far.
  double dropped() const { return dropped_; }

 private:
  struct Choice {
    std::vector<int> live;
    std::vector<double> probability;
    std::size_t at;
  };
  int pick(std::span<const double> probabilities);
  Token choose(const Distribution& distribution, const Site& site) override;
  Token read(const Distribution& distribution, const Site& site, Noise noise) override;
  std::vector<bool> compare(std::span<const double> probabilities, const Site& site) override;
  double gaussian(const Site& site) override;
  std::vector<int> forced_;
  std::vector<Choice> path_;
  // The two numbers between which each shared uniform that was read lies.
  std::map<Site, std::pair<double, double>> known_;
  std::size_t made_ = 0;
  double weight_ = 1, dropped_ = 0;
  std::optional<std::uint64_t> trial_;
};

// A 64-bit hash for Site::sequence and config ids, the same on all machines and in all versions.
std::uint64_t stable_hash(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace draftlab
