#include "analysis/frame/widened.h"

#include <algorithm>
#include <vector>

#include "core/base/count_text.h"

namespace draftlab {

std::string widened_note(const Frame& frame) {
  std::vector<std::string> notes;
  std::vector<char> counts(frame.arms().size(), 0);
  for (const Frame::Sample& sample : frame.samples()) counts[sample.arm] |= sample.counts;
  for (std::size_t arm = 0; arm < frame.arms().size(); ++arm) {
    const RunRow& run = frame.arms()[arm].run;
    if (!counts[arm] || run.original_parameters == 0) continue;
    const std::string note = "widened from " + count_text(run.original_parameters) +
                             ": same function, cost of " + count_text(run.parameters);
    if (std::count(notes.begin(), notes.end(), note) == 0) notes.push_back(note);
  }
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

}  // namespace draftlab
