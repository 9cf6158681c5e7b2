// IFEval's instructions (Zhou et al., 2023), checked as its authors check them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace draftlab {

// Whether `answer` follows the instruction: an object with its kind under `instruction`
// ("length_constraints:number_words") and its arguments beside it. Nothing for kinds whose check
// needs a guess at the language (language:response_language). Two others need a splitter of
// sentences or words that IFEval takes from a trained model; here sentences end as sentences_of
// cuts them, and words are runs of letters, digits and connectors. DataError naming the kind or
// argument that is unknown or missing.
std::optional<bool> follows(const nlohmann::json& instruction, const std::string& answer);

// The same of any of the eight forms that the authors' loose score looks at: without asterisks,
// first line, last line, or both.
std::optional<bool> follows_loosely(const nlohmann::json& instruction, const std::string& answer);

}  // namespace draftlab
