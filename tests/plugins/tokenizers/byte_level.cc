#include "plugins/tokenizers/byte_level.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/prob/chance.h"
#include "plugins/tokenizers/tokenizer.h"
#include "plugins/tokenizers/tokenizer_json.h"
#include "plugins/tokenizers/unicode.h"
#include "tests/plugins/tokenizers/small_tokenizer.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<Token>;

ByteLevelTokenizer made(const std::string& text) {
  ByteLevelParts parts = read_tokenizer_json(text, "t.json");
  parts.ends = {0};
  return ByteLevelTokenizer(std::move(parts), "t.json");
}
ByteLevelTokenizer made(const SmallTokenizer& small) { return made(small.text()); }

std::string refusal(const std::string& text) {
  try {
    made(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "(taken)";
}
std::string refusal(const SmallTokenizer& small) { return refusal(small.text()); }

// How it cuts a text into words, when nothing is merged within: with whole words in the vocabulary,
// one token each.
std::vector<std::string> words(SmallTokenizer small, const std::string& text) {
  std::vector<std::string> cut;
  std::deque<std::string> kept;
  for (const std::string_view word :
       read_tokenizer_json(small.text(), "t.json").words.words(text, kept))
    cut.emplace_back(word);
  return cut;
}
using Pieces = std::vector<std::string>;

TEST_CASE("byte-level BPE: the earliest rule of the list first, of equal ones the leftmost") {
  SmallTokenizer small;
  const int bc = small.merge("b", "c"), ab = small.merge("a", "b", true),
            abc = small.merge("a", "bc"), aa = small.merge("a", "a"),
            aaaa = small.merge("aa", "aa");
  const ByteLevelTokenizer tokenizer = made(small);
  // The pair bc goes first, though ab begins before it.
  CHECK(tokenizer.encode("abc") == Ids{abc});
  CHECK(tokenizer.encode("abab") == Ids{ab, ab});
  CHECK(tokenizer.encode("aaa") == Ids{aa, tokenizer.encode("a")[0]});
  CHECK(tokenizer.encode("aaaaa") == Ids{aaaa, tokenizer.encode("a")[0]});
  CHECK(tokenizer.encode("xbc")[1] == bc);
  CHECK(tokenizer.encode("a b").size() == 3);  // Tokens never reach across words.
  CHECK(tokenizer.encode("").empty());
  CHECK(tokenizer.decode({abc, aaaa}) == "abcaaaa");
  CHECK(tokenizer.piece(ab) == "ab");
  CHECK(tokenizer.piece(tokenizer.encode(" ")[0]) == "\xC4\xA0");  // Files spell a space so.
  CHECK(tokenizer.vocabulary() == 261);

  small.json["model"]["vocab"]["abcab"] = 300;
  CHECK(made(small).encode("abcab") == Ids{abc, ab});
  small.json["model"]["ignore_merges"] = true;
  CHECK(made(small).encode("abcab") == Ids{300});
}

TEST_CASE(
    "byte-level BPE: a token that ends within a character decodes to U+FFFD, and both halves to "
    "the character") {
  const ByteLevelTokenizer tokenizer = made(SmallTokenizer());
  const Ids euro = tokenizer.encode("\xE2\x82\xAC");
  REQUIRE(euro.size() == 3);
  CHECK(tokenizer.decode(euro) == "\xE2\x82\xAC");
  CHECK(tokenizer.decode({euro[0], euro[1]}) == "\xEF\xBF\xBD");
  CHECK(tokenizer.decode({euro[2], euro[0]}) == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK_THROWS_WITH_AS(tokenizer.encode("ab\xFF"), "text to encode is not UTF-8 at byte 2",
                       DataError);
  CHECK(tokenizer.decode({9999}).empty());
  CHECK_THROWS_AS(tokenizer.decode({-1}), Fault);
}

TEST_CASE("added tokens: the longest at the leftmost place, alone, with white space, normalized") {
  SmallTokenizer small;
  const int s = small.add("<s>"), ss = small.add("<s>s"),
            word = small.add("it", {{"single_word", true}});
  const int left = small.add("<l>", {{"lstrip", true}}),
            right = small.add("<r>", {{"rstrip", true}});
  const ByteLevelTokenizer tokenizer = made(small);
  const auto ids = [&](const std::string& text) { return tokenizer.encode(text); };
  CHECK(ids("<s><s>s<s>") == Ids{s, ss, s});
  CHECK(tokenizer.decode(ids("a<s>s b")) == "a<s>s b");
  CHECK(ids("it") == Ids{word});
  CHECK(ids("it it!") == Ids{word, ids(" ")[0], word, ids("!")[0]});
  CHECK(ids("itis").size() == 4);
  CHECK(ids("_it").size() == 3);
  CHECK(ids("a \xC2\xA0<l>b") == Ids{ids("a")[0], left, ids("b")[0]});
  CHECK(ids("<r> \n <l>") == Ids{right, left});
  CHECK(ids("<r> <s>") == Ids{right, s});
  CHECK(tokenizer.encode("<s").size() == 2);

  // With a normal form: a token that is looked for afterwards is found however it is written.
  SmallTokenizer composed;
  composed.json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}};
  const int after = composed.add("\xC3\xA9!", {{"normalized", true}}),
            before = composed.add("\xC3\xA9?");
  CHECK(made(composed).encode("e\xCC\x81!") == Ids{after});
  CHECK(made(composed).encode("e\xCC\x81?").size() == 3);
  CHECK(made(composed).encode("\xC3\xA9?") == Ids{before});
  CHECK(made(composed).decode({after}) == "\xC3\xA9!");
}

TEST_CASE("words: GPT-2's pattern") {
  const SmallTokenizer small;
  CHECK(words(small, "I'll  say 12ab3, \xC3\xA9t\xC3\xA9!?") ==
        Pieces{"I", "'ll", " ", " say", " 12", "ab", "3", ",", " \xC3\xA9t\xC3\xA9", "!?"});
  CHECK(words(small, "a\n\n b  ") == Pieces{"a", "\n\n", " b", "  "});
  CHECK(words(small, "x\xC2\xA0\xC2\xA0y") ==
        Pieces{"x", "\xC2\xA0", "\xC2\xA0", "y"});  // A no-break space is white.
  CHECK(words(small, "\xE6\x97\xA5\xE6\x9C\xAC\xE3\x80\x82 \xF0\x9F\x98\x80") ==
        Pieces{"\xE6\x97\xA5\xE6\x9C\xAC", "\xE3\x80\x82", " \xF0\x9F\x98\x80"});
  // The character U+180E is no white space since Unicode 6.3.
  CHECK(words(small, "\xE1\xA0\x8E") == Pieces{"\xE1\xA0\x8E"});
  SmallTokenizer spaced;
  spaced.json["pre_tokenizer"]["add_prefix_space"] = true;
  CHECK(words(spaced, "a b") == Pieces{" a", " b"});
  CHECK(words(spaced, " a") == Pieces{" a"});
}

TEST_CASE("words: sequences of splits, their behaviours, digits") {
  SmallTokenizer small;
  const auto split = [](const nlohmann::json& pattern, const std::string& behavior,
                        bool invert = false) {
    return nlohmann::json{
        {"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}, {"invert", invert}};
  };
  const nlohmann::json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const auto sequence = [&](std::vector<nlohmann::json> members) {
    members.push_back(bytes);
    small.json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", members}};
  };
  const auto behaves = [&](const std::string& behavior, bool invert = false) {
    sequence({split({{"String", "-"}}, behavior, invert)});
    return words(small, "the-final--countdown");
  };
  // The example of Hugging Face's documentation.
  CHECK(behaves("Isolated") == Pieces{"the", "-", "final", "-", "-", "countdown"});
  CHECK(behaves("Removed") == Pieces{"the", "final", "countdown"});
  CHECK(behaves("MergedWithPrevious") == Pieces{"the-", "final-", "-", "countdown"});
  CHECK(behaves("MergedWithNext") == Pieces{"the", "-final", "-", "-countdown"});
  CHECK(behaves("Contiguous") == Pieces{"the", "-", "final", "--", "countdown"});
  CHECK(behaves("Removed", true) == Pieces{"-", "-", "-"});

  sequence(
      {split({{"Regex", "\\p{N}{1,3}"}}, "Isolated"), split({{"Regex", "[\\s\\S]b"}}, "Isolated")});
  CHECK(words(small, "12345 ab") == Pieces{"123", "45", " ", "ab"});
  sequence({split({{"Regex",
                    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| "
                    "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
                  "Isolated")});
  CHECK(words(small, "We'RE 10!\n\n x") == Pieces{"We", "'RE", " ", "1", "0", "!\n\n", " x"});
  sequence({{{"type", "Digits"}, {"individual_digits", true}}});
  CHECK(words(small, "a12\xD9\xA3") == Pieces{"a", "1", "2", "\xD9\xA3"});
  sequence({{{"type", "Digits"}, {"individual_digits", false}}});
  CHECK(words(small, "a12b") == Pieces{"a", "12", "b"});
  sequence({split({{"Regex", "\\w+"}}, "Isolated")});
  CHECK(words(small, "a_e\xCC\x81.b") == Pieces{"a_e\xCC\x81", ".", "b"});
}

TEST_CASE("what is not supported is refused by its name and place") {
  const auto with = [](const char* key, const nlohmann::json& value) {
    SmallTokenizer small;
    small.json[key] = value;
    return refusal(small);
  };
  const auto model = [](const char* key, const nlohmann::json& value) {
    SmallTokenizer small;
    small.json["model"][key] = value;
    return refusal(small);
  };
  CHECK(refusal(SmallTokenizer()) == "(taken)");
  CHECK(refusal("[]") == "'t.json' is not a JSON object");
  CHECK(refusal("{}") == "'t.json' has no 'model'");
  CHECK(model("type", "Unigram") ==
        "'t.json', 'model' is of type 'Unigram', which is not supported");
  CHECK(model("byte_fallback", true) ==
        "'t.json', 'model', 'byte_fallback' is true, which is not supported");
  CHECK(model("dropout", 0.1) == "'t.json', 'model', 'dropout' is not 0, which is not supported");
  CHECK(model("end_of_word_suffix", "</w>") ==
        "'t.json', 'model', 'end_of_word_suffix' is '</w>', which is not supported");
  CHECK(model("vocab", {{"a", -1}}) ==
        "'t.json', 'model', 'vocab', 'a' is no token id, a whole number of at most 1073741824");
  CHECK(model("vocab", {{"a", 1e300}}) ==
        "'t.json', 'model', 'vocab', 'a' is no token id, a whole number of at most 1073741824");
  CHECK(model("vocab", {{"a", 1152921504606846976}}) ==
        "'t.json', 'model', 'vocab', 'a' is no token id, a whole number of at most 1073741824");
  CHECK(model("vocab", {{"a", 0}, {"b", 0}}) == "'t.json' gives the id 0 to both 'a' and 'b'");
  CHECK(model("merges", {"a b c"}) == "'t.json', 'model', 'merges'[0] is no pair of tokens");
  CHECK(model("merges", {"a q"}) ==
        "'t.json' merge 1 ('a' and 'q'): 'aq' is not in the vocabulary");
  CHECK(with("normalizer", {{"type", "Lowercase"}}) ==
        "'t.json', 'normalizer' is of type 'Lowercase', which is not supported");
  CHECK(with("pre_tokenizer", {{"type", "Metaspace"}}) ==
        "'t.json', 'pre_tokenizer' is of type 'Metaspace', which is not supported");
  CHECK(with("pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", nlohmann::json::array()}}) ==
        "'t.json', 'pre_tokenizer' has no ByteLevel; only byte-level BPE is supported");
  CHECK(with("decoder", {{"type", "WordPiece"}}) ==
        "'t.json', 'decoder' is of type 'WordPiece', which is not supported");
  CHECK(with("decoder", nullptr) == "'t.json' has no 'decoder'");
  CHECK(with("post_processor", {{"type", "BertProcessing"}}) ==
        "'t.json', 'post_processor' is of type 'BertProcessing', which is not supported");
  CHECK(with("added_tokens", {{{"id", 0}, {"content", "<s>"}}}) ==
        "'t.json' gives the id 0 to both '<s>' and '" + spelled_bytes({"\0", 1}) + "'");
  CHECK(with("added_tokens", {{{"id", 999}, {"content", "a"}}}) ==
        "'t.json' gives 'a' both the id 97 and 999");
  CHECK(with("added_tokens", {{{"id", 999}, {"content", ""}}}) ==
        "'t.json', 'added_tokens'[0] is an empty text");

  const auto pattern = [&](const std::string& regex) {
    return with("pre_tokenizer",
                {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}});
  };
  const std::string here = "'t.json', 'pre_tokenizer', 'pattern': the pattern '";
  CHECK(pattern("(") == here + "(' is none: missing closing parenthesis");
  CHECK(pattern("a{1,3}+") ==
        here + "a{1,3}+' has {...}+, which means different things in different dialects");
  CHECK(pattern("\\h") ==
        here + "\\h' has \\h, which means different things in different dialects");
  CHECK(pattern("[a[b]]") == here + "[a[b]]' has brackets within brackets, which is not supported");
  CHECK(pattern("[a-z&&b]") == here + "[a-z&&b]' has an intersection (&&), which is not supported");
  CHECK(pattern("(*ACCEPT)") == here + "(*ACCEPT)' has a verb (*...), which is not supported");

  nlohmann::json deep = {{"type", "NFC"}};
  for (int i = 0; i < 20; ++i) deep = {{"type", "Sequence"}, {"normalizers", {deep}}};
  CHECK(with("normalizer", deep).ends_with("is nested too deeply"));
}

TEST_CASE("a vocabulary without some byte refuses a text that has it") {
  SmallTokenizer small;
  small.json["model"]["vocab"].erase("z");
  CHECK(made(small).encode("ab").size() == 2);
  CHECK_THROWS_WITH_AS(made(small).encode("az"),
                       "'t.json' has no token for the byte 122, which the text has", DataError);
}

// Characters of many kinds, and what stands between them.
std::string random_text(std::uint64_t number, std::size_t characters) {
  Site site{number, 0, Purpose::train, 0, 0};
  const auto below = [&](std::size_t count) {
    ++site.position;
    return static_cast<std::uint32_t>(SampledChance::uniform(7, site) * static_cast<double>(count));
  };
  static const std::vector<std::pair<std::uint32_t, std::uint32_t>> kRanges = {
      {' ', '~'},         {'a', 'z'},       {' ', ' '},       {'\n', '\n'},
      {'0', '9'},         {0, 0x1F},        {0xA0, 0x17F},    {0x300, 0x36F},
      {0x4E00, 0x9FFF},   {0x3040, 0x30FF}, {0x600, 0x6FF},   {0x2000, 0x206F},
      {0x1F300, 0x1FAFF}, {0xAC00, 0xD7A3}, {0xE000, 0xFFFD}, {0x10000, 0x10FFFF}};
  std::string text;
  for (std::size_t i = 0; i < characters; ++i) {
    const auto& [first, last] = kRanges[below(kRanges.size())];
    append_point(text, first + below(last - first + 1));
  }
  return text;
}

TEST_CASE("property: any UTF-8 comes back as it was, in its normal form where there is one") {
  SmallTokenizer plain, composed;
  for (SmallTokenizer* small : {&plain, &composed}) {
    for (const auto& [left, right] :
         std::vector<std::pair<std::string, std::string>>{{" ", " "},
                                                          {"e", "r"},
                                                          {"\xE4", "\xB8"},
                                                          {"\xF0", "\x9F"},
                                                          {"  ", " "},
                                                          {"\xCC", "\x81"}})
      small->merge(left, right);
    small->add("<|endoftext|>");
  }
  composed.json["normalizer"] = {{"type", "NFC"}};
  composed.json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"},
         {"pattern", {{"Regex", kQwen2Pattern}}},
         {"behavior", "Isolated"},
         {"invert", false}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  const ByteLevelTokenizer as_it_is = made(plain), nfc = made(composed);
  int changed = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::string text = random_text(i, 1 + i % 80), normal = normalized(text, "NFC");
    changed += text != normal;
    REQUIRE(as_it_is.decode(as_it_is.encode(text)) == text);
    REQUIRE(nfc.decode(nfc.encode(text)) == normal);
  }
  CHECK(changed > 50);  // The property says something.
}

fs::path scratch(const std::string& name) {
  const fs::path folder =
      fs::temp_directory_path() / ("draftlab_byte_level_" + std::to_string(getpid()) + "_" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

TEST_CASE("a checkpoint's folder: which files say what") {
  const fs::path folder = scratch("folder");
  CHECK_FALSE(has_tokenizer(folder.string()));
  CHECK(tokenizer_digest(folder.string()).empty());
  SmallTokenizer small;
  const int bos = small.add("<|startoftext|>"), eos = small.add("<|endoftext|>"),
            turn = small.add("<|im_end|>"), mask = small.add("<|MASK|>");
  small.json["post_processor"] = {{"type", "TemplateProcessing"},
                                  {"single",
                                   {{{"SpecialToken", {{"id", "<|startoftext|>"}, {"type_id", 0}}}},
                                    {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}}};
  std::ofstream(folder / "tokenizer.json") << small.text();
  CHECK(has_tokenizer(folder.string()));
  const std::string digest = tokenizer_digest(folder.string());
  CHECK(digest.size() == 16);
  auto tokenizer = open_tokenizer(folder.string());
  CHECK(tokenizer->begin() == bos);
  CHECK(tokenizer->separator() == eos);
  CHECK(tokenizer->ends() == Ids{eos, turn});
  CHECK(tokenizer->mask() == kNoToken);

  std::ofstream(folder / "tokenizer_config.json")
      << R"({"eos_token": {"content": "<|im_end|>"}, "mask_token": "<|MASK|>", )"
         R"("added_tokens_decoder": {"400": {"content": "<tool>", "special": true}}})";
  CHECK(tokenizer_digest(folder.string()).starts_with(digest + "+"));
  std::ofstream(folder / "config.json") << R"({"eos_token_id": 65, "mask_token_id": 1})";
  std::ofstream(folder / "generation_config.json") << R"({"eos_token_id": [66, 65]})";
  tokenizer = open_tokenizer(folder.string());
  CHECK(tokenizer->ends() == Ids{turn, 65, 66, eos});
  CHECK(tokenizer->mask() == mask);
  CHECK(tokenizer->encode("<tool>") == Ids{400});
  CHECK(tokenizer->vocabulary() == 401);
  CHECK(tokenizer->piece(399) == "<399>");

  const fs::path copy = scratch("copy");
  copy_tokenizer(folder.string(), copy.string());
  CHECK(open_tokenizer(copy.string())->encode("a<tool>") == tokenizer->encode("a<tool>"));
  std::ofstream(folder / "config.json") << R"({"eos_token_id": 5000})";
  CHECK_THROWS_WITH_AS(
      open_tokenizer(folder.string()),
      ("'" + (folder / "tokenizer.json").string() + "' has no token 5000, which is to end a text")
          .c_str(),
      DataError);

  // Without a post-processor nothing begins a text, unless the config asks for it.
  const fs::path bare = scratch("bare");
  SmallTokenizer none;
  std::ofstream(bare / "tokenizer.json") << none.text();
  CHECK_THROWS_AS(open_tokenizer(bare.string()), DataError);
  std::ofstream(bare / "config.json") << R"({"eos_token_id": 7})";
  CHECK(open_tokenizer(bare.string())->begin() == kNoToken);
  CHECK(open_tokenizer(bare.string())->document_begin() == 7);
  std::ofstream(bare / "tokenizer_config.json") << R"({"add_bos_token": true, "bos_token": "a"})";
  CHECK(open_tokenizer(bare.string())->begin() == 97);

  // vocab.json and merges.txt.
  const fs::path pair = scratch("pair");
  std::ofstream(pair / "vocab.json") << R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3})";
  std::ofstream(pair / "merges.txt") << "#version: 0.2\na b\n";
  CHECK(open_tokenizer(pair.string())->encode("abb") == Ids{2, 1});
  std::ofstream(pair / "tokenizer_config.json") << R"({"tokenizer_class": "BertTokenizer"})";
  CHECK_THROWS_AS(open_tokenizer(pair.string()), DataError);
  for (const fs::path& one : {folder, copy, bare, pair}) fs::remove_all(one);
}

// The published vocabularies are not part of the project; where they lie beside it, or at
// DRAFTLAB_DATA, they are compared.
fs::path data() {
  const char* named = std::getenv("DRAFTLAB_DATA");
  return named ? fs::path(named) : fs::path(DRAFTLAB_SOURCE_DIR) / "../shared/data";
}
std::unique_ptr<Tokenizer> published(const std::string& name, const fs::path& vocabulary,
                                     const fs::path& merges, const fs::path& config) {
  for (const fs::path& file : {vocabulary, merges})
    if (!fs::exists(file)) {
      std::cout << "there is no " << file.string()
                << " (set DRAFTLAB_DATA); tokenizer compared with none\n";
      return nullptr;
    }
  const fs::path folder = scratch(name);
  fs::copy_file(vocabulary, folder / "vocab.json");
  fs::copy_file(merges, folder / "merges.txt");
  if (fs::exists(config)) fs::copy_file(config, folder / "tokenizer_config.json");
  auto tokenizer = open_tokenizer(folder.string());
  fs::remove_all(folder);
  return tokenizer;
}

struct Golden {
  std::string text;
  Ids gpt2, qwen2;
};
// Made by an implementation of its own: the patterns of the authors' code, and merging by search
// through the whole list.
const std::vector<Golden> kGoldens = {
    {"Hello, world!", {15496, 11, 995, 0}, {9707, 11, 1879, 0}},
    {"The quick brown fox jumps over the lazy dog.",
     {464, 2068, 7586, 21831, 18045, 625, 262, 16931, 3290, 13},
     {785, 3974, 13876, 38835, 34208, 916, 279, 15678, 5562, 13}},
    {"  two  spaces\n\n\tand tabs  ",
     {220, 734, 220, 9029, 628, 197, 392, 22524, 220, 220},
     {220, 1378, 220, 12621, 271, 52477, 22398, 256}},
    {"I'll say it's 12345 o'CLOCK, I'D",
     {40, 1183, 910, 340, 338, 17031, 2231, 267, 6, 5097, 11290, 11, 314, 6, 35},
     {40, 3278, 1977, 432, 594, 220, 16, 17, 18, 19, 20, 297, 76661, 8044, 11, 358, 27705}},
    {"\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3001\u4e2d\u6587\u5b57\u3002",
     {33768, 98, 17312, 105, 45739, 252, 5641, 24336, 25084, 43302, 23513, 40792, 23877, 229, 27764,
      245, 16764},
     {101059, 102819, 15767, 56833, 61803, 70534, 5373, 15946, 87335, 1773}},
    {"na\u00efve caf\u00e9 \u2014 \u201cquotes\u201d \U0001F600\U0001F44D\U0001F3FD e\u0301",
     {2616,  38776, 40304, 851, 564,  250, 421, 6421, 447, 251,
      30325, 222,   41840, 235, 8582, 237, 121, 304,  136, 223},
     {3376, 37572, 586, 51950, 1959, 1036, 53282, 854, 90316, 144349, 145375, 3958}},
    {"def f(x):\n    return x**2  # ok\r\n",
     {4299, 277, 7, 87, 2599, 198, 220, 220, 220, 1441, 2124, 1174, 17, 220, 1303, 12876, 201, 198},
     {750, 282, 2075, 982, 262, 470, 856, 334, 17, 220, 671, 5394, 319}},
    {"<|endoftext|>a <|im_start|>user\nhi<|im_end|>",
     {50256, 64, 1279, 91, 320, 62, 9688, 91, 29, 7220, 198, 5303, 27, 91, 320, 62, 437, 91, 29},
     {151643, 64, 220, 151644, 872, 198, 6023, 151645}},
    {"\u00a0\u3000\u180e x",
     {1849, 5099, 222, 157, 254, 236, 2124},
     {4102, 22441, 123970, 236, 856}},
    {"\u0967\u0968\u0969 \u0663\u0664 \u2177",
     {24231, 100, 24231, 101, 24231, 102, 18923, 96, 149, 97, 2343, 227, 115},
     {12619, 100, 12619, 101, 12619, 102, 220, 149, 96, 149, 97, 220, 70467, 115}},
};

TEST_CASE(
    "the published vocabularies of GPT-2 and Qwen: known ids, round trips, a megabyte in about a "
    "second") {
  const auto gpt2 = published("gpt2", data() / "tokenizer-gpt2/encoder.json",
                              data() / "tokenizer-gpt2/vocab.bpe", "");
  const auto qwen2 =
      published("qwen2", data() / "tokenizer-qwen/vocab.json", data() / "tokenizer-qwen/merges.txt",
                data() / "tokenizer-qwen/tokenizer_config.json");
  for (const Golden& golden : kGoldens) {
    CAPTURE(golden.text);
    if (gpt2) CHECK(gpt2->encode(golden.text) == golden.gpt2);
    if (qwen2) CHECK(qwen2->encode(golden.text) == golden.qwen2);
  }
  if (gpt2) {
    CHECK(gpt2->vocabulary() == 50257);
    CHECK(gpt2->separator() == 50256);
    CHECK(gpt2->begin() == kNoToken);
  }
  if (qwen2) {
    CHECK(qwen2->ends() == Ids{151643, 151645});
    CHECK(qwen2->mask() == 151669);
    CHECK(qwen2->piece(151669) == "<|MASK|>");
  }
  std::string long_text;
  for (std::uint64_t i = 0; long_text.size() < 1 << 20; ++i)
    long_text +=
        random_text(i, 20) + " and a few words of English, as they come; " + std::to_string(i);
  for (const Tokenizer* tokenizer : {gpt2.get(), qwen2.get()}) {
    if (!tokenizer) continue;
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::string text = random_text(i, 60);
      REQUIRE(tokenizer->decode(tokenizer->encode(text)) ==
              (tokenizer == gpt2.get() ? text : normalized(text, "NFC")));
    }
    for (const std::string& text :
         {long_text, std::string(1 << 20, 'a'), std::string(1 << 20, ' ')}) {
      const auto start = std::chrono::steady_clock::now();
      const Ids ids = tokenizer->encode(text);
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      MESSAGE(text.size() << " bytes, " << ids.size() << " tokens: " << seconds << " s");
      // It takes half a second on an idle machine and 16 under TSan; an algorithm that is quadratic
      // in a word's length takes hours.
      CHECK(seconds < 100);
    }
  }
}

}  // namespace
}  // namespace draftlab
