// Encodes code for XLNet, whose vocabulary has no white space but between words. ASSD's authors
// write code with special tokens for it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

// Whose tokens stand for line ends, tabs and spaces.
enum class WhiteSpace { own, xlnet };
constexpr std::array<std::string_view, 2> words(WhiteSpace) { return {"own", "xlnet"}; }

// Encodes a text in which a line end is <cls>, a tab <sep>, and two spaces are <unk>, replaced in
// this order from the left. (The authors have <pad> for three spaces, too, of which their order
// never leaves any.) What lies between is encoded by itself, so that a single space beside one of
// these tokens is lost.
std::vector<Token> encode_code(const Tokenizer& tokenizer, const std::string& text);
std::string decode_code(const Tokenizer& tokenizer, const std::vector<Token>& tokens);

}  // namespace draftlab
