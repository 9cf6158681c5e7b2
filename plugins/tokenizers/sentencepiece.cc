#include "plugins/tokenizers/sentencepiece.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text.h"
#include "plugins/tokenizers/tokenizer.h"
#include "plugins/tokenizers/xlnet_text.h"

namespace draftlab {
namespace {

// U+2581, with which a piece writes a space.
constexpr std::string_view kSpace = "\xE2\x96\x81";

// Says whether a piece is a number followed by a comma. XLNet splits "1990," into the digits and
// the comma, so that numbers share their pieces.
bool number_and_comma(const std::string& piece) {
  return piece.size() > 1 && piece.back() == ',' &&
         std::isdigit(static_cast<unsigned char>(piece[piece.size() - 2]));
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(const std::string& file)
    : file_(file), processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  if (!std::filesystem::is_regular_file(file)) throw DataError("there is no tokenizer '{}'", file);
  if (const auto status = processor_->Load(file); !status.ok())
    throw DataError("'{}' is not a sentencepiece model ({})", file, status.error_message());
  for (Token id = 0; id < static_cast<Token>(std::size(kSpecialPieces)); ++id)
    if (id >= processor_->GetPieceSize() || processor_->IdToPiece(id) != kSpecialPieces[id])
      throw DataError("'{}' is no XLNet vocabulary: piece {} must be {}", file, id,
                      kSpecialPieces[id]);
  for (Token id = 0; id < processor_->GetPieceSize(); ++id)
    pieces_.push_back(processor_->IdToPiece(id));
}

SentencePieceTokenizer::~SentencePieceTokenizer() = default;

std::vector<Token> SentencePieceTokenizer::encode(const std::string& text) const {
  if (const std::size_t at = invalid_utf8(text); at != std::string::npos)
    throw DataError("text to encode is not UTF-8 at byte {}", at);
  std::vector<std::string> pieces;
  if (const auto status = processor_->Encode(clean_text(text), &pieces); !status.ok())
    throw Fault("sentencepiece: {}", status.error_message());
  std::vector<Token> tokens;
  for (const std::string& piece : pieces) {
    if (!number_and_comma(piece)) {
      tokens.push_back(processor_->PieceToId(piece));
      continue;
    }
    const bool leads = piece.starts_with(kSpace);
    std::vector<std::string> digits;
    if (const auto status = processor_->Encode(
            piece.substr(leads ? kSpace.size() : 0, piece.size() - 1 - (leads ? kSpace.size() : 0)),
            &digits);
        !status.ok())
      throw Fault("sentencepiece: {}", status.error_message());
    // The library begins a text with a space, but inside a word there is none.
    if (!leads && !digits.empty() && digits[0].starts_with(kSpace))
      digits[0].erase(0, kSpace.size());
    for (const std::string& digit : digits)
      if (!digit.empty()) tokens.push_back(processor_->PieceToId(digit));
    tokens.push_back(processor_->PieceToId(","));
  }
  return tokens;
}

std::string SentencePieceTokenizer::decode(const std::vector<Token>& tokens) const {
  std::string text;
  for (const Token token : tokens) {
    const std::string& whole = known(token);
    for (std::size_t at = 0, space; at < whole.size(); at = space + kSpace.size()) {
      space = std::min(whole.find(kSpace, at), whole.size());
      text.append(whole, at, space - at);
      if (space < whole.size()) text += ' ';
    }
  }
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::string SentencePieceTokenizer::piece(Token token) const { return known(token); }

const std::string& SentencePieceTokenizer::known(Token token) const {
  if (token < 0 || token >= vocabulary())
    throw DataError("'{}' has {} pieces and none for token {}: the tokenizer is another model's",
                    file_, vocabulary(), token);
  return pieces_[static_cast<std::size_t>(token)];
}

int SentencePieceTokenizer::vocabulary() const { return static_cast<int>(pieces_.size()); }

// The functions that the module exports (tokenizer.h).
extern "C" __attribute__((visibility("default"))) Tokenizer* draftlab_open_tokenizer(
    const std::string& file);
extern "C" Tokenizer* draftlab_open_tokenizer(const std::string& file) {
  return new SentencePieceTokenizer(file);
}

namespace {

// Gives the library its lines.
class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ >= lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void draftlab_train_tokenizer(
    const std::vector<std::string>& lines, const UnigramVocabulary& vocabulary, std::string* model,
    std::string* error);
extern "C" void draftlab_train_tokenizer(const std::vector<std::string>& lines,
                                         const UnigramVocabulary& vocabulary, std::string* model,
                                         std::string* error) {
  std::string controls;
  for (int id = 3; id < 9; ++id) controls += std::string(id > 3 ? "," : "") + kSpecialPieces[id];
  Lines iterator(lines);
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", "unigram"},
       {"vocab_size", std::to_string(vocabulary.pieces)},
       {"hard_vocab_limit", "false"},
       {"character_coverage", std::to_string(vocabulary.coverage)},
       {"unk_id", "0"},
       {"bos_id", "1"},
       {"eos_id", "2"},
       {"pad_id", "-1"},
       {"control_symbols", controls},
       {"required_chars", vocabulary.required},
       {"split_digits", vocabulary.split_digits ? "true" : "false"},
       {"normalization_rule_name", "identity"},
       {"max_sentence_length", "1000000"},
       {"num_threads", "4"},
       {"minloglevel", "2"}},
      &iterator, model);
  if (!status.ok()) *error = status.error_message();
}

}  // namespace draftlab
