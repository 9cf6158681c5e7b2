// The texts of a trace as token ids, which parts that look things up read (core/parts/corpus.h).
#pragma once

#include <cstdint>
#include <string>

namespace draftlab {

// Writes a line for each sample whose tokens are ids: what was generated, in the order of
// positions, up to an end-of-text token. Returns how many lines. Throws DataError when there is
// none, and OutputError.
std::int64_t export_corpus(const std::string& trace, const std::string& file);

}  // namespace draftlab
