// Where the logits for a position stand: in its own row, or in the row before.
#pragma once

#include <array>
#include <string_view>

namespace draftlab {

enum class LogitShift { by_family, aligned, right };
constexpr std::array<std::string_view, 3> words(LogitShift) { return {"auto", "aligned", "right"}; }

// Says whether logits stand in the row before; `family` is what the checkpoint's family does.
constexpr bool is_right_shifted(LogitShift shift, bool family) {
  return shift == LogitShift::by_family ? family : shift == LogitShift::right;
}

}  // namespace draftlab
