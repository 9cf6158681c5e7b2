#include "plugins/tokenizers/added_tokens.h"

#include <algorithm>

#include "core/base/text.h"
#include "plugins/tokenizers/unicode.h"

namespace draftlab {
namespace {

// Returns the last character before `at`, which begins a character.
Point point_before(std::string_view text, std::size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return read_point(text, at);
}

bool within_word(std::string_view text, std::size_t begin, std::size_t end) {
  return (begin > 0 && word_character(point_before(text, begin).point)) ||
         (end < text.size() && word_character(read_point(text, end).point));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    int node = 0;
    for (const char c : tokens_[i].content) {
      int next = child(node, static_cast<unsigned char>(c));
      if (next < 0) {
        next = static_cast<int>(trie_.size());
        trie_[static_cast<std::size_t>(node)].next.emplace_back(static_cast<unsigned char>(c),
                                                                next);
        trie_.emplace_back();
      }
      node = next;
    }
    if (node) trie_[static_cast<std::size_t>(node)].token = static_cast<int>(i);
  }
}

int AddedTokens::child(int node, unsigned char byte) const {
  for (const auto& [label, next] : trie_[static_cast<std::size_t>(node)].next)
    if (label == byte) return next;
  return -1;
}

int AddedTokens::longest(std::string_view text, std::size_t at) const {
  int found = -1;
  for (int node = 0; at < text.size(); ++at) {
    node = child(node, static_cast<unsigned char>(text[at]));
    if (node < 0) break;
    if (const int token = trie_[static_cast<std::size_t>(node)].token; token >= 0) found = token;
  }
  return found;
}

std::vector<TextPiece> AddedTokens::cut(std::string_view text) const {
  std::vector<TextPiece> pieces;
  // What lies before this byte is in `pieces`.
  std::size_t done = 0;
  const auto add_text = [&](std::size_t end) {
    if (end > done) pieces.push_back({text.substr(done, end - done), kNoToken});
  };
  if (tokens_.empty()) {
    add_text(text.size());
    return pieces;
  }
  for (std::size_t at = 0; at < text.size();) {
    const int found = longest(text, at);
    if (found < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(found)];
    std::size_t begin = at, end = at + token.content.size();
    at = end;
    if (begin < done || (token.single_word && within_word(text, begin, end))) continue;
    if (token.lstrip)
      while (begin > done && white_space(point_before(text, begin).point))
        begin -= point_before(text, begin).bytes;
    if (token.rstrip)
      while (end < text.size() && white_space(read_point(text, end).point))
        end += read_point(text, end).bytes;
    add_text(begin);
    pieces.push_back({text.substr(begin, end - begin), token.id});
    done = end;
  }
  add_text(text.size());
  return pieces;
}

}  // namespace draftlab
