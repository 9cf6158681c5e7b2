// Draws one decoded sequence in a terminal: what each step drafted, what became of it, and what it
// left.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "core/trace/trace_file.h"

namespace draftlab {

struct InspectOptions {
  // The steps [first_step, end_step) are shown.
  std::int64_t first_step = 0, end_step = std::numeric_limits<std::int64_t>::max();
  bool ascii = false;
  // The width in columns.
  int width = 100;
  // Spells a token; where it is empty, ids are shown.
  std::function<std::string(int run, Token token)> piece;
};

// Reads "A:B", "A:", ":B", or "N" for the first N. Throws UsageError when the text is none of
// these.
void read_steps(const std::string& text, InspectOptions& options);

// Says whether the environment tells that the terminal shows UTF-8.
bool terminal_shows_utf8();

// Returns the picture. Throws DataError when there is no such sample.
std::string inspect(const Trace& trace, std::int64_t sample, const InspectOptions& options);

}  // namespace draftlab
