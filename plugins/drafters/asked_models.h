// The numbers by which drafters name the models of a step in Step::ask.
#pragma once

namespace draftlab {

inline constexpr int kTarget = 0, kDraftModel = 1;

}  // namespace draftlab
