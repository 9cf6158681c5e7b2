// Which system calls a program in the sandbox may make.
#pragma once

#include <string>

namespace draftlab {

// Returns the filter as the kernel reads it. Threads are allowed. clone3 does not exist for the
// program, because its flags cannot be seen; libraries then use clone.
std::string call_filter();

}  // namespace draftlab
