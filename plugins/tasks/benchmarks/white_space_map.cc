#include "plugins/tasks/benchmarks/white_space_map.h"

namespace draftlab {
namespace {

// A text and the id of XLNet's vocabulary that stands for it.
struct Mapped {
  std::string text;
  Token token;
};
const std::vector<Mapped> kMapped = {{"\n", 3}, {"\t", 4}, {"  ", 0}, {"   ", 5}};

}  // namespace

std::vector<Token> encode_code(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<Token> tokens;
  std::string between;
  const auto flush = [&] {
    const std::vector<Token> encoded = tokenizer.encode(between);
    tokens.insert(tokens.end(), encoded.begin(), encoded.end());
    between.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const Mapped* found = nullptr;
    for (const Mapped& one : kMapped)
      if (!found && text.compare(at, one.text.size(), one.text) == 0) found = &one;
    if (!found) {
      between += text[at++];
      continue;
    }
    flush();
    tokens.push_back(found->token);
    at += found->text.size();
  }
  flush();
  return tokens;
}

std::string decode_code(const Tokenizer& tokenizer, const std::vector<Token>& tokens) {
  std::string text;
  std::vector<Token> between;
  const auto flush = [&] {
    text += tokenizer.decode(between);
    between.clear();
  };
  for (const Token token : tokens) {
    const Mapped* found = nullptr;
    for (const Mapped& one : kMapped)
      if (one.token == token) found = &one;
    if (!found) {
      between.push_back(token);
      continue;
    }
    flush();
    text += found->text;
  }
  flush();
  return text;
}

}  // namespace draftlab
