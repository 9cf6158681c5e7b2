// Texts with fields, "Solve {problem}", that the objects of a JSONL file fill in.
#pragma once

#include <string>

#include "core/base/json_lines.h"

namespace draftlab {

// Returns the text with every {KEY} replaced by the object's value under KEY: a text as it stands,
// a number or a truth value as JSON writes it. {a.b} is the value b within the object a, {a.0} the
// first of the list a. {{ and }} stand for braces, and \n for a line end. Throws DataError naming
// the object where a value is missing or is a list or an object, and ConfigError naming `option`
// where the braces do not match.
std::string filled(const std::string& text, const JsonObject& object, const std::string& option);

}  // namespace draftlab
