#include "plugins/tokenizers/bytes.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

constexpr int kBytes = 256;
// A byte that no text has stands between documents.
constexpr Token kSeparator = 0;

class ByteTokenizer final : public Tokenizer {
 public:
  std::vector<Token> encode(const std::string& text) const override {
    if (const std::size_t at = invalid_utf8(text); at != std::string::npos)
      throw DataError("text to encode is not UTF-8 at byte {}", at);
    std::vector<Token> tokens;
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }
  // A byte that belongs to no character becomes U+FFFD, because a text is UTF-8.
  std::string decode(const std::vector<Token>& tokens) const override {
    std::string text;
    for (const Token token : tokens)
      if (token > kSeparator && token < kBytes) text += static_cast<char>(token);
    return mended_utf8(text);
  }
  std::string piece(Token token) const override {
    if (token > ' ' && token < 0x7f) return std::string(1, static_cast<char>(token));
    char hexadecimal[8];
    std::snprintf(hexadecimal, sizeof hexadecimal, "<0x%02X>", static_cast<unsigned>(token));
    return hexadecimal;
  }
  int vocabulary() const override { return kBytes; }
  Token begin() const override { return kNoToken; }
  Token separator() const override { return kSeparator; }
  Token mask() const override { return kNoToken; }
};

// Returns the number of tokens that the file's beginning states; 0 where it is no such file.
std::int64_t stated_tokens(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::int32_t header[3] = {};
  if (!file.read(reinterpret_cast<char*>(header), sizeof header)) return 0;
  if (header[0] == 0x67676d66) return header[2];
  if (!path.ends_with(".safetensors")) return 0;
  std::uint64_t length = 0;
  std::memcpy(&length, header, sizeof length);
  if (length > std::uint64_t{1} << 26) return 0;
  std::string text(length, '\0');
  file.seekg(sizeof length);
  file.read(text.data(), static_cast<std::streamsize>(length));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto shape = nlohmann::json::json_pointer("/emb.weight/shape/0");
  if (!json.is_object() || !json.contains(shape) || !json.at(shape).is_number_integer()) return 0;
  return json.at(shape).get<std::int64_t>();
}

}  // namespace

bool has_bytes(const std::string& path) {
  return std::filesystem::is_regular_file(path) && stated_tokens(path) == kBytes;
}

std::unique_ptr<Tokenizer> make_bytes() { return std::make_unique<ByteTokenizer>(); }

}  // namespace draftlab
