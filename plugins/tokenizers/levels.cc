#include "plugins/tokenizers/levels.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/documents.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

class LevelTokenizer final : public Tokenizer {
 public:
  explicit LevelTokenizer(int levels) : levels_(levels) {}

  std::vector<Token> encode(const std::string& text) const override {
    std::vector<Token> tokens;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      Token level = -1;
      const char* const end = word.data() + word.size();
      const auto read = std::from_chars(word.data(), end, level);
      if (read.ec != std::errc() || read.ptr != end || level < 0 || level >= levels_)
        throw DataError("'{}' is no level of the model's tokenizer, which has 0 to {}", word,
                        levels_ - 1);
      tokens.push_back(level);
    }
    return tokens;
  }
  std::string decode(const std::vector<Token>& tokens) const override {
    std::string text;
    for (const Token token : tokens) {
      if (token < 0 || token >= levels_) continue;
      if (!text.empty()) text += ' ';
      text += std::to_string(token);
    }
    return text;
  }
  std::string piece(Token token) const override {
    if (token == begin()) return "<s>";
    if (token == separator()) return "<sep>";
    return std::to_string(token);
  }
  int vocabulary() const override { return levels_ + 2; }
  Token begin() const override { return levels_; }
  Token separator() const override { return levels_ + 1; }
  Token mask() const override { return kNoToken; }

 private:
  int levels_;
};

}  // namespace

std::unique_ptr<Tokenizer> open_levels(const std::string& path) {
  const nlohmann::json file = nlohmann::json::parse(read_utf8(path, 1 << 16), nullptr, false);
  const bool there = file.is_object() && file.contains("levels");
  if (!there || !file["levels"].is_number_unsigned() || file["levels"] < 2 ||
      file["levels"] > 65536)
    throw DataError("'{}' has no \"levels\", a whole number in [2, 65536]", path);
  return std::make_unique<LevelTokenizer>(file["levels"].get<int>());
}

}  // namespace draftlab
