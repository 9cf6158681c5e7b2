// The config section `reference`: the law that a certificate compares a decoder with. A law is
// named and has no parts, so that nothing which is under test can take part in its own reference.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace draftlab {

class Config;
class OptionSet;

// Which law texts have under the reference:
//   sequential: each token is drawn from the target's causal law, in the frontier's order. It is
//     the law that "lossless" means.
//   denoising: each step draws every mask of the block from the target's bidirectional laws, and
//     keeps those that a ranking puts first (masked diffusion, verification trees).
//   cascade: each token is drawn from a law between target and draft model (speculative cascades).
enum class ReferenceLaw { sequential, denoising, cascade };
constexpr std::array<std::string_view, 3> words(ReferenceLaw) {
  return {"sequential", "denoising", "cascade"};
}

// What a denoising step keeps first: drafts by the probability of the token that was drawn, or by
// what the position's law is like, whatever was drawn.
enum class Kept { confidence, peak, margin, entropy };
constexpr std::array<std::string_view, 4> words(Kept) {
  return {"confidence", "peak", "margin", "entropy"};
}

// How a cascade mixes target and draft model (Narasimhan et al., 2025, Sec. 4).
enum class Mixing { chow, diff, opt, by_draft, by_target, by_share };
constexpr std::array<std::string_view, 6> words(Mixing) {
  return {"chow", "diff", "opt", "by-draft", "by-target", "by-share"};
}

// Whether a text ends at its first end-of-text token.
enum class Ending { decode, token, off };
constexpr std::array<std::string_view, 3> words(Ending) { return {"decode", "token", "off"}; }

struct ReferenceOptions {
  ReferenceLaw law = ReferenceLaw::sequential;
  // The temperature; below 0 it is decode.temperature. Top-k and top-p are always those of decode.
  double temperature = -1;
  Ending ending = Ending::decode;
  // Denoising: the ranking, and how many drafts a step keeps: those more probable than the
  // threshold, from `at_least` to `at_most` of them.
  Kept order = Kept::confidence;
  double threshold = 1;
  std::int64_t at_least = 1;
  std::int64_t at_most = 0;
  // What the probability of an end of text is multiplied by in the ranking, before normalising.
  double end_confidence = 1;
  // Cascades: the rule, and its alpha.
  Mixing rule = Mixing::opt;
  double alpha = 0.5;
  void declare(OptionSet& set);
};

// Refuses a [reference] that names a part or an option of one, in one sentence.
void refuse_parts(const Config& config);

}  // namespace draftlab
