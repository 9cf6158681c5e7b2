// The options of [decode] for which drafters that make no chain of drafts have no use
// (Drafter::reads_draft_length). They are no part of the identity of such an arm.
#pragma once

#include <array>
#include <string_view>

namespace draftlab {

inline constexpr std::array<std::string_view, 4> kDraftLengthOptions = {
    "draft_length", "draft_rule", "draft_stop", "draft_adapts"};

}  // namespace draftlab
