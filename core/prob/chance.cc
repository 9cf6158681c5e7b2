#include "core/prob/chance.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "core/base/error.h"

namespace draftlab {

namespace {

// This is the finaliser of MurmurHash3: a bijection of 64 bits in which every input bit moves every
// output bit.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// Returns the 128 bits at a site. The counter holds position, purpose, clock and attempt as they
// are, and for one seed different sequences have different keys, so no two sites of a seed share a
// number.
std::array<std::uint32_t, 4> bits(std::uint64_t seed, const Site& site) {
  const std::uint64_t key = mix(seed + 0x9e3779b97f4a7c15ULL) ^ site.sequence;
  return philox({static_cast<std::uint32_t>(site.position),
                 static_cast<std::uint32_t>(site.purpose), site.clock, site.attempt},
                {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
}

double to_uniform(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>(((static_cast<std::uint64_t>(high) << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0],
                        b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

std::string to_string(const Site& site) {
  return "(sequence " + std::to_string(site.sequence) + ", position " +
         std::to_string(site.position) + ", " + std::string(name(site.purpose)) + ", clock " +
         std::to_string(site.clock) + ", attempt " + std::to_string(site.attempt) + ")";
}

Token Chance::draw(const Distribution& distribution, const Site& site) {
  use(site);
  return choose(distribution, site);
}

Token Chance::draw_shared(const Distribution& distribution, const Site& site, Noise noise) {
  if (noise == Noise::own)
    throw Fault("a number of one draw's own is shared at site {}", to_string(site));
  return read(distribution, site, noise);
}

bool Chance::below(double probability, const Site& site) {
  return below(std::span(&probability, 1), site)[0];
}

std::vector<bool> Chance::below(std::span<const double> probabilities, const Site& site) {
  use(site);
  for (const double p : probabilities)
    if (std::isnan(p))
      throw Fault("a probability that is not a number at site {}", to_string(site));
  return compare(probabilities, site);
}

double Chance::normal(const Site& site) {
  use(site);
  return gaussian(site);
}

void Chance::use(const Site& site) {
  if (!used_.insert(site).second)
    throw Fault(
        "site {} was drawn twice in one decode; every draw has a position, purpose or attempt of "
        "its "
        "own",
        to_string(site));
}

std::size_t Chance::Hash::operator()(const Site& site) const {
  std::uint64_t hash = mix(site.sequence + static_cast<std::uint32_t>(site.position));
  hash = mix(hash + ((static_cast<std::uint64_t>(site.clock) << 32) | site.attempt));
  return mix(hash + static_cast<std::uint64_t>(site.purpose));
}

double SampledChance::uniform(std::uint64_t seed, const Site& site) {
  const auto word = bits(seed, site);
  return to_uniform(word[0], word[1]);
}

Token SampledChance::choose(const Distribution& distribution, const Site& site) {
  return distribution.quantile(uniform(seed_, site));
}

// Gumbel noise is drawn as a race: a token of probability p arrives after an exponential time of
// rate p, and the first to arrive is the draw. The attempt of the site counts the tokens.
Token SampledChance::read(const Distribution& distribution, const Site& site, Noise noise) {
  if (noise == Noise::uniform) return choose(distribution, site);
  const Eigen::ArrayXd& p = distribution.probabilities();
  Site of_token = site;
  Token first = kNoToken;
  double earliest = 0;
  for (Token token = 0; token < distribution.size(); ++token) {
    if (p[token] <= 0) continue;
    of_token.attempt = static_cast<std::uint32_t>(token);
    const double arrival = -std::log1p(-uniform(seed_, of_token)) / p[token];
    if (first != kNoToken && arrival >= earliest) continue;
    first = token;
    earliest = arrival;
  }
  return first;
}

std::vector<bool> SampledChance::compare(std::span<const double> probabilities, const Site& site) {
  const double u = uniform(seed_, site);
  std::vector<bool> result;
  for (const double p : probabilities) result.push_back(u < p);
  return result;
}

// The method is that of Box and Muller; the radius takes 1 - u, which is never zero.
double SampledChance::gaussian(const Site& site) {
  const auto word = bits(seed_, site);
  const double radius = std::sqrt(-2 * std::log(1 - to_uniform(word[0], word[1])));
  return radius * std::cos(2 * std::numbers::pi * to_uniform(word[2], word[3]));
}

void EnumeratedChance::begin() {
  restart();
  known_.clear();
  made_ = 0;
  weight_ = 1;
}

void EnumeratedChance::probe(std::uint64_t trial) {
  path_.clear();
  begin();
  trial_ = trial;
}

double EnumeratedChance::branches() const {
  double product = 1;
  for (const Choice& choice : path_) product *= static_cast<double>(choice.live.size());
  return product;
}

bool EnumeratedChance::next() {
  const std::size_t own = made_ > forced_.size() ? made_ - forced_.size() : 0;
  path_.resize(std::min(path_.size(), own));
  while (!path_.empty() && path_.back().at + 1 == path_.back().live.size()) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().at;
  return true;
}

std::vector<int> EnumeratedChance::choices() const {
  std::vector<int> choices(forced_.begin(), forced_.begin() + static_cast<std::ptrdiff_t>(
                                                                  std::min(made_, forced_.size())));
  for (std::size_t i = 0; i + forced_.size() < made_; ++i)
    choices.push_back(path_[i].live[path_[i].at]);
  return choices;
}

int EnumeratedChance::pick(std::span<const double> probabilities) {
  if (made_ < forced_.size()) return forced_[made_++];
  const std::size_t depth = made_++ - forced_.size();
  if (depth == path_.size()) {
    Choice choice{{}, {}, 0};
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      if (probabilities[i] > kNegligible) {
        choice.live.push_back(static_cast<int>(i));
        choice.probability.push_back(probabilities[i]);
      } else {
        dropped_ += weight_ * std::max(probabilities[i], 0.0);
      }
    }
    if (choice.live.empty()) throw Fault("a choice without a possible outcome");
    if (trial_) choice.at = mix(mix(*trial_) + depth) % choice.live.size();
    path_.push_back(std::move(choice));
  }
  const Choice& choice = path_[depth];
  weight_ *= choice.probability[choice.at];
  return choice.live[choice.at];
}

Token EnumeratedChance::choose(const Distribution& distribution, const Site&) {
  const Eigen::ArrayXd& p = distribution.probabilities();
  return pick(std::span(p.data(), static_cast<std::size_t>(p.size())));
}

// A token stands for the part of the unit interval where a uniform becomes it, and what was read of
// the uniform before leaves a part of that.
Token EnumeratedChance::read(const Distribution& distribution, const Site& site, Noise noise) {
  if (noise == Noise::gumbel)
    throw ConfigError(
        "Gumbel noise has no outcomes to enumerate; certify with decode.noise = uniform, whose "
        "rules are the same");
  auto& [low, high] = known_.try_emplace(site, 0.0, 1.0).first->second;
  std::vector<double> ends, parts;
  double end = 0;
  for (const double p : distribution.probabilities()) {
    parts.push_back(std::max(0.0, std::min(end + p, high) - std::max(end, low)) / (high - low));
    ends.push_back(end += p);
  }
  const int token = pick(parts);
  low = std::max(low, token == 0 ? 0.0 : ends[static_cast<std::size_t>(token) - 1]);
  high = std::min(high, ends[static_cast<std::size_t>(token)]);
  return token;
}

std::string EnumeratedChance::known(const std::function<bool(std::int32_t)>& open) const {
  std::ostringstream text;
  text << std::hexfloat;
  for (const auto& [site, within] : known_)
    if (open(site.position))
      text << " " << site.position << "@" << site.clock << " " << within.first << " "
           << within.second;
  return text.str();
}

// The uniform falls between two neighbouring probabilities, and where it falls decides which of
// them it is below.
std::vector<bool> EnumeratedChance::compare(std::span<const double> probabilities, const Site&) {
  std::vector<double> cuts{0, 1};
  for (const double p : probabilities) cuts.push_back(std::clamp(p, 0.0, 1.0));
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<double> widths;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) widths.push_back(cuts[i + 1] - cuts[i]);
  const double u = cuts[pick(widths)];
  std::vector<bool> result;
  for (const double p : probabilities) result.push_back(u < p);
  return result;
}

double EnumeratedChance::gaussian(const Site& site) {
  throw Fault("a normal draw at site {} has no outcomes to enumerate", to_string(site));
}

// The hash is FNV-1a over the bytes, then MurmurHash3's finaliser, which repairs the weak high bits
// of FNV-1a.
std::uint64_t stable_hash(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ mix(seed);
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return mix(hash);
}

}  // namespace draftlab
