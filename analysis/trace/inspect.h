// One decoded sequence as a picture in a terminal: what each step drafted, what became of it, and
// what it left.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "core/trace/trace_file.h"

namespace draftlab {

struct InspectOptions {
  std::int64_t first_step = 0, end_step = std::numeric_limits<std::int64_t>::max();  // half open
  bool ascii = false;
  int width = 100;                                         // columns
  std::function<std::string(int run, Token token)> piece;  // empty: ids are shown
};

// "A:B", "A:", ":B", or "N" for the first N. UsageError when it is none of these.
void read_steps(const std::string& text, InspectOptions& options);

// Whether the environment says that the terminal shows UTF-8.
bool terminal_shows_utf8();

// DataError when there is no such sample.
std::string inspect(const Trace& trace, std::int64_t sample, const InspectOptions& options);

}  // namespace draftlab
