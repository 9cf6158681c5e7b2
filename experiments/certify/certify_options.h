// The config section `certify`: what a config claims about its decoder, and how the claim is
// proven.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace draftlab {

class OptionSet;

// What is claimed of a decoder's texts: that their law is the target's own (lossless); that it is
// another law which [reference] names (equal); or that it is visibly not the reference's (lossy).
enum class Claim { lossless, equal, lossy };
constexpr std::array<std::string_view, 3> words(Claim) { return {"lossless", "equal", "lossy"}; }

// The condition of a vector token's law: all tokens before it, or what was committed before its
// step.
enum class Given { tokens, step };
constexpr std::array<std::string_view, 2> words(Given) { return {"tokens", "step"}; }

struct CertifyOptions {
  Claim expect = Claim::lossless;
  // The total variation up to which "lossless" and "equal" hold, and the one above which "lossy"
  // holds.
  double tolerance = 1e-12;
  double visible = 1e-3;
  // The most outcomes that are walked, which takes about a minute.
  std::int64_t most_outcomes = 2000000;
  // Whether equal states are merged after each step.
  bool merge = true;
  // Claims on the worst case of function evaluations and on the expected number of tokens of the
  // first step; 0 claims nothing.
  std::int64_t worst_nfe = 0;
  double first_step = 0;

  // The outcomes of vector tokens are sampled: so many decodes, and the probability with which any
  // check of a lossless decoder fails by chance.
  std::int64_t samples = 200000;
  double alpha = 0.01;
  Given given = Given::tokens;
  // Claims on the mean of the first committed coordinates, and on the share of tested drafts that
  // are accepted; none where the list is empty and the share is 0.
  std::vector<double> mean;
  double acceptance = 0;
  void declare(OptionSet& set);
};

}  // namespace draftlab
