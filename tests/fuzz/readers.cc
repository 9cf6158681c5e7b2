// Feeds damaged CSV files, JSON lines, tokenizer files, UTF-8 and safetensors to the readers. A
// reader may return or refuse with a DataError; anything else, a crash, a hang or another
// exception, is a fault. Mutations are drawn by `Chance`, so a failing round can be run again:
//   fuzz_readers ROUNDS FIRST
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/base/memory_file.h"
#include "core/base/text.h"
#include "core/prob/chance.h"
#include "plugins/models/nn/checkpoint/llama2c.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/tasks/sentences.h"
#include "plugins/tasks/stories/five_sentences.h"
#include "plugins/tokenizers/llama2c_tokenizer.h"
#include "plugins/tokenizers/tokenizer_json.h"
#include "plugins/tokenizers/xlnet_text.h"
#include "tests/plugins/models/nn/checkpoint/small_gguf.h"
#include "tests/plugins/tokenizers/small_llama2c_vocabulary.h"
#include "tests/plugins/tokenizers/small_tokenizer.h"

namespace draftlab {
namespace {

// The numbers of one round.
class Draw {
 public:
  explicit Draw(std::uint64_t round) : site_{round, 0, Purpose::train, 0, 0} {}
  std::size_t below(std::size_t count) {
    ++site_.position;
    return static_cast<std::size_t>(SampledChance::uniform(1, site_) * static_cast<double>(count));
  }

 private:
  Site site_;
};

const std::vector<std::string> kSeeds = {
    "sentence1,sentence2,sentence3,sentence4,sentence5\na.,\"b, \"\"c\"\".\",d.,e.,f.\n",
    "document_id,text\r\nt,\"one\r\ntwo\"\r\nt,three\r\n",
    "{\"text\": \"one \\u00e9\", \"more\": [1, {\"a\": null}]}\n\n{\"text\": \"two\"}\n",
    "caf\xC3\xA9 ``quoted'' \xE2\x82\xAC 3.50! \"Yes.\" He said.\n\nNext? No.",
};
const std::vector<std::string> kScraps = {"\"",
                                          "\"\"",
                                          ",",
                                          "\n",
                                          "\r\n",
                                          "\r",
                                          "{",
                                          "}",
                                          "[[[[[[[[",
                                          "\\u",
                                          "\\ud800",
                                          "\xFF",
                                          "\xE2\x82",
                                          "\xF4\x90\x80\x80",
                                          std::string(1, '\0'),
                                          "text",
                                          "1e999999",
                                          ".",
                                          "! ",
                                          "'",
                                          "``",
                                          "null",
                                          "true",
                                          "-1",
                                          "1152921504606846976",
                                          "(",
                                          "*",
                                          "?",
                                          "+",
                                          "|"};

// A header and its tensors; what stands before them says how long the header is.
const std::string kTensors =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b.weight":)"
    R"({"dtype":"BF16","shape":[4],"data_offsets":[24,32]},"c":{"dtype":"I64","shape":[],)"
    R"("data_offsets":[32,40]}})";
const std::vector<std::string> kTensorScraps = {"\"",
                                                ",",
                                                "{",
                                                "}",
                                                "[",
                                                "]",
                                                ":",
                                                "-1",
                                                "18446744073709551615",
                                                "9223372036854775807",
                                                "4611686018427387904",
                                                "1e30",
                                                "0.5",
                                                "null",
                                                "\"F64\"",
                                                "\"F16\"",
                                                "\"shape\"",
                                                "\"data_offsets\"",
                                                "[0,0]",
                                                "\"a\":{}",
                                                "\"__metadata__\":1",
                                                std::string(300, '['),
                                                "\xFF",
                                                std::string(1, '\0')};

// A tokenizer with a component of every kind.
std::string whole_tokenizer() {
  SmallTokenizer small;
  small.merge("a", "b");
  small.merge("ab", " ", true);
  small.add("<s>", {{"lstrip", true}, {"rstrip", true}});
  small.add("caf\u00e9", {{"normalized", true}, {"single_word", true}});
  small.json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}};
  small.json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"},
         {"pattern", {{"Regex", "(?i:'s|'t)| ?[^\\s\\p{L}]++[\\r\\n]*|\\s+(?!\\S)|\\w{1,3}"}}},
         {"behavior", "MergedWithPrevious"},
         {"invert", false}},
        {{"type", "Digits"}, {"individual_digits", true}},
        {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", true}}}}};
  small.json["post_processor"] = {{"type", "TemplateProcessing"},
                                  {"single", {{{"SpecialToken", {{"id", "<s>"}}}}}}};
  // Its long list of bytes last, so that damage meets the rest.
  std::string text = "{\"model\": " + small.json["model"].dump() + "}";
  small.json.erase("model");
  return small.json.dump().substr(0, small.json.dump().size() - 1) + ", " + text.substr(1);
}

// With up to `most` edits, which begin among the first bytes.
std::string mutated(Draw& draw, std::string text, const std::vector<std::string>& scraps,
                    std::size_t most = 8, std::size_t first = std::string::npos) {
  for (std::size_t edits = 1 + draw.below(most); edits > 0; --edits) {
    const std::size_t at = draw.below(std::min(text.size(), first) + 1);
    switch (draw.below(5)) {
      case 0: text.insert(at, scraps[draw.below(scraps.size())]); break;
      case 1: text.erase(at, draw.below(8)); break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(draw.below(256));
        break;
      case 3: text.insert(at, text.substr(draw.below(text.size() + 1), draw.below(20))); break;
      default:
        if (first > text.size() || draw.below(20) == 0) text.resize(at);
    }
  }
  return text;
}

const std::string kTokenizer = whole_tokenizer();

struct Tally {
  long taken = 0, refused = 0;
};

template <class Read>
void attempt(Tally& tally, Read read) {
  try {
    read();
    ++tally.taken;
  } catch (const DataError& error) {
    if (std::string(error.what()).empty()) throw Fault("a refusal without words");
    ++tally.refused;
  }
}

// The header is damaged, or what surrounds it, or neither.
void tensors(Draw& draw, Tally& tally) {
  const std::string header = draw.below(4) ? mutated(draw, kTensors, kTensorScraps) : kTensors;
  std::uint64_t length = header.size();
  if (draw.below(8) == 0) length = std::uint64_t{1} << draw.below(64);
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  file += header + std::string(draw.below(8) ? 40 : draw.below(80), 'x');
  if (draw.below(8) == 0) file.resize(draw.below(file.size()));
  attempt(tally, [&] {
    const MemoryFile stored(file);
    const SafetensorsFile read(stored.path());
    unsigned sum = 0;
    for (const auto& [name, tensor] : read.tensors()) {
      if (tensor.bytes.size() != byte_count(tensor.type, tensor.shape))
        throw Fault("a tensor of other bytes than its shape says");
      for (const std::byte byte : tensor.bytes) sum += std::to_integer<unsigned>(byte);
    }
    if (sum > 255 * file.size()) throw Fault("more bytes than there are");
  });
}

// Damages the header of a small GGUF file, or what surrounds it.
void gguf(Draw& draw, Tally& tally) {
  static const std::string kWhole = [] {
    SmallGguf small;
    small.architecture("qwen3");
    small.key("list", 9, SmallGguf::raw(4u) + SmallGguf::raw(std::uint64_t{2}) + "12345678");
    for (const GgufType type : {GgufType::f32, GgufType::q8_0, GgufType::q4_0})
      small.tensor("t" + std::to_string(static_cast<int>(type)), {2, 32},
                   std::vector<float>(64, 0.5f), type);
    return small.bytes();
  }();
  std::string file = kWhole;
  for (std::size_t edits = draw.below(4); edits > 0; --edits)
    file[draw.below(300)] = static_cast<char>(draw.below(3) ? draw.below(64) : draw.below(256));
  if (draw.below(8) == 0) file.resize(draw.below(file.size()));
  attempt(tally, [&] {
    const MemoryFile stored(file);
    const GgufFile read(stored.path());
    for (const auto& [name, tensor] : read.tensors()) {
      std::size_t count = 1;
      for (const std::int64_t size : tensor.shape) count *= static_cast<std::size_t>(size);
      if (count > 2 * tensor.bytes.size()) throw Fault("more numbers than bytes can hold");
      std::vector<float> numbers(count);
      decode(tensor, numbers.data());
    }
  });
}

// Damages a file of llama2.c, mostly in its header, and a vocabulary, mostly behind its bytes.
void llama2c(Draw& draw, Tally& tally) {
  // Width 4, inner width 3, one layer, two heads that share keys and values, 5 words, 6 positions.
  std::string model(28 + 4 * 128, 'x');
  const std::int32_t shape[7] = {4, 3, 1, 2, 1, 5, 6};
  std::memcpy(model.data(), shape, sizeof shape);
  for (std::size_t edits = draw.below(3); edits > 0; --edits)
    model[draw.below(28)] = static_cast<char>(draw.below(3) ? draw.below(8) : draw.below(256));
  if (draw.below(8) == 0) model.resize(draw.below(model.size()));
  attempt(tally, [&] {
    const MemoryFile stored(model);
    const Llama2cFile read(stored.path());
    std::size_t bytes = 28;
    for (const auto& [name, tensor] : read.tensors()) bytes += tensor.bytes.size();
    if (bytes > model.size()) throw Fault("more bytes than there are");
  });
  static const std::string kWhole =
      small_llama2c_vocabulary({{" ", -1}, {"a", -2}, {"ab", -3}, {" a", 0}, {"", 1}});
  std::string vocabulary = kWhole;
  for (std::size_t edits = draw.below(4); edits > 0; --edits) {
    const std::size_t last = draw.below(4) ? 60 : vocabulary.size();
    vocabulary[vocabulary.size() - 1 - draw.below(last)] = static_cast<char>(draw.below(256));
  }
  if (draw.below(8) == 0) vocabulary.resize(vocabulary.size() - draw.below(30));
  attempt(tally, [&] {
    const MemoryFile stored(vocabulary);
    const Llama2cTokenizer tokenizer(stored.path());
    for (const Token token : tokenizer.encode("ab aab caf\xC3\xA9"))
      if (token < 0 || token >= tokenizer.vocabulary())
        throw Fault("a token outside the vocabulary");
    if (invalid_utf8(tokenizer.decode(tokenizer.encode("ab \xC3\xA9"))) != std::string::npos)
      throw Fault("decoding made what is no UTF-8");
  });
}

// Damages a tokenizer.json, mostly before its vocabulary, and encodes with what is still taken.
void tokenizer_round(Draw& draw, Tally& tally) {
  const std::string file =
      mutated(draw, kTokenizer, kScraps, 2,
              draw.below(4) ? kTokenizer.find("\"vocab\"") : kTokenizer.size());
  const std::string text = mutated(draw, kSeeds[3], kScraps);
  attempt(tally, [&] {
    ByteLevelParts parts = read_tokenizer_json(file, "fuzz.json");
    add_turn_ends(parts);
    parts.ends.push_back(parts.vocabulary.empty() ? 0 : parts.vocabulary.begin()->second);
    const ByteLevelTokenizer tokenizer(std::move(parts), "fuzz.json");
    for (const Token token : tokenizer.encode(text))
      if (token < 0 || token >= tokenizer.vocabulary())
        throw Fault("a token outside the vocabulary");
    if (invalid_utf8(tokenizer.decode(tokenizer.encode(text))) != std::string::npos)
      throw Fault("decoding made what is no UTF-8");
  });
}

void round(std::uint64_t number, Tally& tally) {
  Draw draw(number);
  tensors(draw, tally);
  gguf(draw, tally);
  llama2c(draw, tally);
  if (number % 20 == 0) return tokenizer_round(draw, tally);
  const std::string text = mutated(draw, kSeeds[draw.below(kSeeds.size())], kScraps);
  const bool valid = invalid_utf8(text) == std::string::npos;
  attempt(tally, [&] {
    const CsvTable table = parse_csv(text, "fuzz.csv");
    for (const auto& row : table.rows)
      if (row.size() != table.columns.size()) throw Fault("a row of another width than the header");
    if (table.lines.size() != table.rows.size()) throw Fault("rows without line numbers");
  });
  if (!valid) return;  // Files are refused before they reach the rest.
  attempt(tally, [&] { parse_jsonl(text, "fuzz.jsonl", "text"); });
  attempt(tally, [&] {
    if (invalid_utf8(clean_text(text)) != std::string::npos) throw Fault("cleaning broke UTF-8");
    std::size_t bytes = 0;
    for (const std::string& sentence : sentences_of(text)) bytes += sentence.size();
    if (bytes > text.size()) throw Fault("sentences longer than their text");
  });
}

}  // namespace
}  // namespace draftlab

int main(int count, char** arguments) {
  const std::uint64_t rounds = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100000;
  const std::uint64_t first = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  draftlab::Tally tally;
  for (std::uint64_t i = first; i < first + rounds; ++i) {
    try {
      draftlab::round(i, tally);
    } catch (const std::exception& error) {
      std::cerr << "round " << i << ": " << error.what() << "\n";
      return 1;
    }
  }
  std::cout << rounds << " rounds: " << tally.taken << " inputs taken, " << tally.refused
            << " refused\n";
  return tally.taken > 0 && tally.refused > 0 ? 0 : 1;
}
