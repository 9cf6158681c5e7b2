// Lays a program of the small language out in lines.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// Returns the lines that a program has when it is laid out as Python is: a line ends behind a colon
// and before a statement, an `else` or an `end`. The words of the program must be separated by one
// space each, as those of generated programs are; the lines, joined by one space, are the program.
std::vector<std::string> program_lines(const std::string& program);

// Says which of these lines do something: all but the head of a function, `else :` and `end`, which
// are the same in every program.
std::vector<std::size_t> working_lines(const std::vector<std::string>& lines);

}  // namespace draftlab
