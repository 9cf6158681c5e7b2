// What standard output is: a terminal of some width, or a file or pipe.
#pragma once

#include <cstddef>

namespace draftlab {

// Returns the columns of the terminal that standard output is; 0 where it is none.
std::size_t terminal_columns();

// Returns the lines of the terminal that standard output is; 0 where it is none.
std::size_t terminal_rows();

// Says whether colours may be written to standard output: it is a terminal that is not dumb, and
// the environment's variable NO_COLOR is not set.
bool terminal_has_colours();

}  // namespace draftlab
