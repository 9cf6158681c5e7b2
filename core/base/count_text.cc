#include "core/base/count_text.h"

#include <cmath>
#include <cstdio>

namespace draftlab {

std::string count_text(std::int64_t count) {
  double number = static_cast<double>(count);
  const char* unit = "";
  for (const char* next : {"k", "M", "B", "T"}) {
    // What would be written as 1000 belongs to the next unit.
    if (std::abs(number) < 999.5) break;
    number /= 1000;
    unit = next;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%s", number, unit);
  return text;
}

}  // namespace draftlab
