// The decisions of a trace's verifier, one a line, as docs/AUDIT.md has them logged.
#pragma once

#include <cstdint>
#include <string>

namespace draftlab {

struct ExportedDecisions {
  std::int64_t written = 0;
  std::int64_t left_out = 0;  // Verified steps that are no chain of token ids.
};

// Writes every verified step of a chain as a JSON line. A trace has no random numbers, so its log
// has none. DataError where the trace recorded no drafts, OutputError.
ExportedDecisions export_decisions(const std::string& trace, const std::string& file);

}  // namespace draftlab
