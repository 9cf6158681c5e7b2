// Finds where the sentences of a text end.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// A sentence ends at . ! or ? (with what closes a quotation), where white space and a capital, a
// digit or a quote follow.
std::vector<std::string> sentences_of(const std::string& text);

}  // namespace draftlab
