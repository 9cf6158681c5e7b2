// Python that a model wrote: taken out of its answer, and run in a process of its own.
#pragma once

#include <cstdint>
#include <string>

namespace draftlab {

// What stands between [BEGIN] and [DONE], else in the first ``` fence, else everything; an end that is missing is the text's.
std::string extracted_code(const std::string& answer);

struct PythonLimits {
  std::string python;  // the interpreter
  std::int64_t seconds = 5, megabytes = 512;
};
// Whether the interpreter, isolated (-I) and mute, ends with 0 within the limits. OutputError when no process can be made.
bool python_succeeds(const std::string& program, const PythonLimits& limits);

}  // namespace draftlab
