// The files of analysis/page, which the build embeds.
#pragma once

namespace draftlab {

// The HTML, with {{title}}, {{style}}, {{data}} and {{script}}.
extern const char* const kPageFrame;
extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace draftlab
