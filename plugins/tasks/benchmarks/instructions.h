// Checks IFEval's instructions (Zhou et al., 2023) as its authors check them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace draftlab {

// Says whether `answer` follows the instruction, which is an object with its kind under
// `instruction` ("length_constraints:number_words") and its arguments beside it. Returns nothing
// for kinds whose check needs a guess at the language (language:response_language). Two other kinds
// need a splitter of sentences or words that IFEval takes from a trained model; here sentences end
// as sentences_of cuts them, and words are runs of letters, digits and connectors. Throws DataError
// naming the kind or argument that is unknown or missing.
std::optional<bool> follows(const nlohmann::json& instruction, const std::string& answer);

// Says the same of any of the eight forms of an answer that the authors' loose score looks at:
// without asterisks, without the first line, without the last line, and combinations of these.
std::optional<bool> follows_loosely(const nlohmann::json& instruction, const std::string& answer);

}  // namespace draftlab
