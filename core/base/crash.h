// Says whose code was running when a signal ends the process, where that was a library's.
#pragma once

#include <string>

namespace draftlab {

// From now on a crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) below a call of this library
// prints a sentence that begins with `said`, and ends the process as it would have. `function` is
// the address of a function of the library. Not more than 64 libraries are known.
void name_crashes(const void* function, const std::string& said);

}  // namespace draftlab
