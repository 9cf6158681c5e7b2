// Computes what a pass of the verifier is worth: the accepted prefix that is expected, minus what
// the step would give without it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config/options.h"
#include "core/parts/router.h"

namespace draftlab {

// The cost grows with the number of confident drafts, or is a constant.
enum class ScoreKind { dynamic, constant };
constexpr std::array<std::string_view, 2> words(ScoreKind) { return {"dynamic", "static"}; }

// Eq. 6 of S2D2 is s = K-hat - c (static) or s = K-hat - c N_hi (dynamic), where N_hi counts the
// drafts so confident that the unmasker would commit them anyway.
struct VerificationScore {
  ScoreKind kind = ScoreKind::dynamic;
  double cost = 1;

  void declare(OptionSet& set) {
    set.add("score", &kind)
        .help("s = K-hat - cost x confident drafts (dynamic), or K-hat - cost (static); Eq. 6.");
    set.add("cost", &cost)
        .in(0, 1e6)
        .help("c: tokens that a verification must gain at least; dynamic: per confident draft.");
  }
  double of(const StepView& step) const {
    return step.expected - cost * (kind == ScoreKind::dynamic ? step.preview : 1);
  }
};

}  // namespace draftlab
