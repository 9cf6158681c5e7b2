// Which Python interpreter runs Python files. The python3 of the user's PATH often has no numpy,
// while the system's has it.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// Returns the interpreter that --python or DRAFTLAB_PYTHON names, whatever it has; else the first
// of the PATH's python3 and /usr/bin/python3 that has the packages. Where that is not the first it
// says so, and DRAFTLAB_PYTHON names it from then on. Throws ConfigError when none has them.
std::string interpreter(const std::vector<std::string>& packages);

// Says whether a word names a program, by a path or by the PATH.
bool is_program(const std::string& word);

}  // namespace draftlab
