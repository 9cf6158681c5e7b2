// The Python programs beside this file, which the build embeds.
#pragma once

namespace draftlab {

extern const char* const kPeers;   // What both sides begin with.
extern const char* const kJudge;   // The side that runs the tests.
extern const char* const kJudged;  // The side that runs the program.

}  // namespace draftlab
