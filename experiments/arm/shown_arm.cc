#include "experiments/arm/shown_arm.h"

#include <algorithm>
#include <iostream>

namespace draftlab {

std::size_t shown_arm(const std::vector<ComposedArm>& arms) {
  const auto drafts = std::find_if(arms.begin(), arms.end(), [](const ComposedArm& arm) {
    return !arm.composition.is_sequential();
  });
  const std::size_t shown = drafts == arms.end() ? 0 : drafts - arms.begin();
  if (arms.size() > 1)
    std::cerr << "taking '" << arms[shown].cell.label << "', one of " << arms.size()
              << " cells; the keys in which they differ choose another\n";
  return shown;
}

}  // namespace draftlab
