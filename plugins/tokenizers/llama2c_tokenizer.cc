#include "plugins/tokenizers/llama2c_tokenizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

#include "core/base/error.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

constexpr std::size_t kLargestVocabulary = std::size_t{1} << 28;
constexpr std::size_t kLongest = 1 << 12;
// The token of byte 0, and how it is spelled.
constexpr Token kByte = 3;
constexpr Token kByteTokens = 256;

std::string byte_piece(int byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
}

std::string bytes_of(const std::string& file, std::size_t most) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw DataError("'{}' cannot be read", file);
  std::string bytes;
  for (std::array<char, 1 << 16> part; bytes.size() < most && stream;) {
    stream.read(part.data(),
                static_cast<std::streamsize>(std::min(part.size(), most - bytes.size())));
    bytes.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  }
  return bytes;
}

// Returns the bytes of the character that begins here.
std::size_t length_of_character(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

}  // namespace

Llama2cTokenizer::Llama2cTokenizer(const std::string& file) : file_(file) {
  const std::string bytes = bytes_of(file, kLargestVocabulary);
  std::size_t at = 4;
  for (std::int32_t length; at < bytes.size(); at += static_cast<std::size_t>(length)) {
    Piece piece;
    if (bytes.size() - at < 8) throw DataError("'{}' ends within piece {}", file, pieces_.size());
    std::memcpy(&piece.score, bytes.data() + at, 4);
    std::memcpy(&length, bytes.data() + at + 4, 4);
    at += 8;
    if (length < 0 || static_cast<std::size_t>(length) > std::min(kLongest, bytes.size() - at) ||
        !std::isfinite(piece.score))
      throw DataError("'{}' is no vocabulary of llama2.c: piece {} has {} bytes and the score {}",
                      file, pieces_.size(), length, piece.score);
    piece.text = bytes.substr(at, static_cast<std::size_t>(length));
    ids_.emplace(piece.text, static_cast<Token>(pieces_.size()));
    pieces_.push_back(std::move(piece));
  }
  for (Token byte = 0; byte < kByteTokens; ++byte) {
    const auto id = static_cast<std::size_t>(kByte + byte);
    if (id >= pieces_.size() || pieces_[id].text != byte_piece(byte))
      throw DataError("'{}' is no vocabulary of llama2.c: piece {} must be {}", file, id,
                      byte_piece(byte));
  }
}

std::vector<Token> Llama2cTokenizer::encode(const std::string& text) const {
  if (const std::size_t at = invalid_utf8(text); at != std::string::npos)
    throw DataError("text to encode is not UTF-8 at byte {}", at);
  std::vector<Token> tokens;
  if (!text.empty()) add_character(" ", tokens);
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    length = length_of_character(static_cast<unsigned char>(text[at]));
    add_character(text.substr(at, length), tokens);
  }
  // What each token would become together with the next one.
  std::vector<Token> with_next;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    with_next.push_back(merged(tokens[i], tokens[i + 1]));
  while (true) {
    std::size_t best = with_next.size();
    for (std::size_t i = 0; i < with_next.size(); ++i) {
      if (with_next[i] == kNoToken) continue;
      if (best == with_next.size() || known(with_next[i]).score > known(with_next[best]).score)
        best = i;
    }
    if (best == with_next.size()) return tokens;
    const auto here = static_cast<std::ptrdiff_t>(best);
    tokens[best] = with_next[best];
    tokens.erase(tokens.begin() + here + 1);
    with_next.erase(with_next.begin() + here);
    if (best > 0) with_next[best - 1] = merged(tokens[best - 1], tokens[best]);
    if (best < with_next.size()) with_next[best] = merged(tokens[best], tokens[best + 1]);
  }
}

std::string Llama2cTokenizer::decode(const std::vector<Token>& tokens) const {
  std::string bytes;
  bool begins = true;
  for (const Token token : tokens) {
    const std::string& text = known(token).text;
    if (token == begin()) {
      begins = true;
      continue;
    }
    if (token >= kByte && token < kByte + kByteTokens)
      bytes += static_cast<char>(token - kByte);
    else
      bytes += text.substr(begins && text.starts_with(' ') ? 1 : 0);
    begins = false;
  }
  return mended_utf8(bytes);
}

void Llama2cTokenizer::add_character(const std::string& character,
                                     std::vector<Token>& tokens) const {
  if (const auto found = ids_.find(character); found != ids_.end()) {
    tokens.push_back(found->second);
    return;
  }
  for (const char byte : character) tokens.push_back(kByte + static_cast<unsigned char>(byte));
}

Token Llama2cTokenizer::merged(Token left, Token right) const {
  const auto found = ids_.find(known(left).text + known(right).text);
  return found == ids_.end() ? kNoToken : found->second;
}

const Llama2cTokenizer::Piece& Llama2cTokenizer::known(Token token) const {
  if (token < 0 || token >= vocabulary())
    throw DataError("'{}' has {} pieces and none for token {}: the tokenizer is another model's",
                    file_, vocabulary(), token);
  return pieces_[static_cast<std::size_t>(token)];
}

int llama2c_vocabulary(const std::string& model) {
  const std::string header = bytes_of(model, 28);
  if (header.size() < 28) throw DataError("'{}' is no file of llama2.c: it has no header", model);
  std::int32_t vocabulary;
  std::memcpy(&vocabulary, header.data() + 20, 4);
  return vocabulary < 0 ? -std::max(vocabulary, -(1 << 30)) : vocabulary;
}

}  // namespace draftlab
