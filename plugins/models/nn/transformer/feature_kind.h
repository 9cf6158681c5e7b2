// The kinds of heads that draft from a target's hidden states, declared without torch.
#pragma once

#include <array>
#include <string_view>

namespace draftlab {

// EAGLE's head (Li et al., 2024), EAGLE-3's (Li et al., 2025), a module of multi-token prediction
// (DeepSeek-V3, 2024), or DFlash's layers (Chen et al., 2026). feature_head_torch.h says how they
// differ.
enum class FeatureKind { eagle, eagle3, mtp, dflash };
constexpr std::array<std::string_view, 4> words(FeatureKind) {
  return {"eagle", "eagle-3", "mtp", "dflash"};
}

}  // namespace draftlab
