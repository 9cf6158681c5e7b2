#include "plugins/tasks/prompts.h"

#include <iomanip>
#include <sstream>

#include "core/prob/chance.h"

namespace draftlab {

bool begins(const Tokenizer& tokenizer, bool asked) {
  return asked && tokenizer.begin() != kNoToken;
}

std::string prompt_id(const std::string& name, const Prompt& prompt) {
  std::vector<Token> parts = prompt.reference;
  for (const auto& given : prompt.given) parts.push_back(given.first);
  return name + "-" + digest_of(parts, {}).substr(0, 8);
}

std::vector<Score> token_scores(const Prompt& prompt, const Canvas& canvas) {
  int equal = 0, generated = 0;
  for (std::int32_t position = 0; position < canvas.length(); ++position) {
    if (canvas.given(position)) continue;
    ++generated;
    equal += canvas.token(position) == prompt.reference[position];
  }
  return {{"token_match", generated ? static_cast<double>(equal) / generated : 1},
          {"exact_match", equal == generated ? 1.0 : 0.0}};
}

std::string decoded_text(const Tokenizer& tokenizer, const Prompt& prompt, const Canvas& canvas) {
  std::vector<Token> tokens(canvas.tokens().begin() + prompt.offset, canvas.tokens().end());
  std::erase(tokens, kNoToken);
  return tokenizer.decode(tokens);
}

std::string digest_of(const std::vector<Token>& tokens, const std::string& before) {
  std::string bytes = before;
  for (Token token : tokens) bytes += std::to_string(token) + " ";
  std::ostringstream hex;
  hex << std::hex << std::setfill('0') << std::setw(16) << stable_hash(bytes);
  return hex.str();
}

}  // namespace draftlab
