#include "plugins/tokenizers/byte_level.h"

#include <algorithm>
#include <deque>

#include "core/base/error.h"
#include "core/base/text.h"
#include "plugins/tokenizers/unicode.h"

namespace draftlab {
namespace {

std::string in_forms(std::string text, const std::vector<std::string>& forms) {
  for (const std::string& form : forms) text = normalized(text, form);
  return text;
}

std::vector<AddedToken> those(const ByteLevelParts& parts, bool normalized) {
  std::vector<AddedToken> tokens;
  for (AddedToken token : parts.added) {
    if (token.normalized != normalized) continue;
    if (normalized) token.content = in_forms(token.content, parts.forms);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

ByteLevelTokenizer::ByteLevelTokenizer(ByteLevelParts parts, const std::string& file)
    : parts_(std::move(parts)),
      pairs_(std::move(parts_.vocabulary), parts_.merges, parts_.whole_words, file),
      raw_(those(parts_, false)),
      normalized_(those(parts_, true)) {
  parts_.merges.clear();
  const auto add = [&](Token id, const std::string& piece, std::string bytes) {
    const auto [at, fresh] = spellings_.try_emplace(id, Spelling{piece, std::move(bytes)});
    if (!fresh && at->second.piece != piece)
      throw DataError("'{}' gives the id {} to both '{}' and '{}'", file, id,
                      std::min(at->second.piece, piece), std::max(at->second.piece, piece));
  };
  std::string bytes;
  for (const auto& [piece, id] : pairs_.vocabulary())
    add(id, piece, read_spelling(piece, &bytes) ? bytes : piece);
  for (const AddedToken& token : parts_.added) {
    const auto found = pairs_.vocabulary().find(token.content);
    if (found != pairs_.vocabulary().end() && found->second != token.id)
      throw DataError("'{}' gives '{}' both the id {} and {}", file, token.content, found->second,
                      token.id);
    add(token.id, token.content, token.content);
    spellings_[token.id].bytes = token.content;
  }
  vocabulary_ = spellings_.empty() ? 0 : spellings_.rbegin()->first + 1;
  for (const Token end : parts_.ends)
    if (!spellings_.count(end))
      throw DataError("'{}' has no token {}, which is to end a text", file, end);
  if (parts_.ends.empty())
    throw DataError(
        "'{}': no token ends a text; tokenizer_config.json names it as 'eos_token', config.json as "
        "'eos_token_id'",
        file);
}

std::vector<Token> ByteLevelTokenizer::encode(const std::string& text) const {
  if (const std::size_t at = invalid_utf8(text); at != std::string::npos)
    throw DataError("text to encode is not UTF-8 at byte {}", at);
  std::vector<Token> tokens;
  for (const TextPiece& raw : raw_.cut(text)) {
    if (raw.token != kNoToken) {
      tokens.push_back(raw.token);
      continue;
    }
    const std::string clean = in_forms(std::string(raw.text), parts_.forms);
    for (const TextPiece& piece : normalized_.cut(clean)) {
      if (piece.token != kNoToken) {
        tokens.push_back(piece.token);
        continue;
      }
      std::deque<std::string> made;
      for (const std::string_view word : parts_.words.words(piece.text, made))
        pairs_.encode(word, tokens);
    }
  }
  return tokens;
}

std::string ByteLevelTokenizer::decode(const std::vector<Token>& tokens) const {
  std::string bytes;
  for (const Token token : tokens) {
    if (token < 0)
      throw Fault("token {} is outside the tokenizer's vocabulary of {}", token, vocabulary_);
    if (const auto found = spellings_.find(token); found != spellings_.end())
      bytes += found->second.bytes;
  }
  return mended_utf8(bytes);
}

std::string ByteLevelTokenizer::piece(Token token) const {
  if (token < 0 || token >= vocabulary_)
    throw Fault("token {} is outside the tokenizer's vocabulary of {}", token, vocabulary_);
  const auto found = spellings_.find(token);
  return found == spellings_.end() ? "<" + std::to_string(token) + ">" : found->second.piece;
}

}  // namespace draftlab
