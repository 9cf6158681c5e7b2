// The vocabulary of llama2.c's files, by hand on a small one.
#include "plugins/tokenizers/llama2c_tokenizer.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "plugins/tokenizers/tokenizer.h"
#include "tests/plugins/tokenizers/small_llama2c_vocabulary.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<Token>;

struct TokenizerFolder {
  fs::path path = fs::temp_directory_path() / ("draftlab-tok-" + std::to_string(::getpid()));
  TokenizerFolder() { fs::create_directories(path); }
  ~TokenizerFolder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
};

std::string complaint(const std::string& bytes) {
  const TokenizerFolder folder;
  try {
    const Llama2cTokenizer tokenizer(folder.file("tokenizer.bin", bytes));
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("llama2.c's vocabulary: the best score is merged first, the earliest of equals") {
  const TokenizerFolder folder;
  // The pieces after the bytes are 259 " ", 260 "a", 261 "b", 262 "ab", 263 " a", 264 "ba",
  // 265 "aa".
  const Llama2cTokenizer tokenizer(folder.file(
      "tokenizer.bin",
      small_llama2c_vocabulary(
          {{" ", -10}, {"a", -11}, {"b", -12}, {"ab", -2}, {" a", -1}, {"ba", -3}, {"aa", -2}})));
  CHECK(tokenizer.vocabulary() == 266);
  CHECK(tokenizer.encode("") == Ids{});
  CHECK(tokenizer.encode("b") == Ids{259, 261});
  // " a" is better than "ab".
  CHECK(tokenizer.encode("ab") == Ids{263, 261});
  // Behind a "b" the space has no partner, and "ab" is better than "ba".
  CHECK(tokenizer.encode("bab") == Ids{259, 261, 262});
  // "aa" and "ab" are equally good: the earlier pair is merged.
  CHECK(tokenizer.encode("baab") == Ids{259, 261, 265, 261});
  // A character without a piece is its bytes.
  CHECK(tokenizer.encode("\xC3\xA9\n") == Ids{259, 3 + 0xC3, 3 + 0xA9, 3 + 10});
  CHECK(tokenizer.decode({1, 263, 262, 3 + 0xC3, 3 + 0xA9, 263}) == "aab\xC3\xA9 a");
  CHECK(tokenizer.decode({1, 263, 1, 263}) == "aa");
  CHECK(tokenizer.decode({3 + 0xC3}) == "\xEF\xBF\xBD");
  CHECK(tokenizer.piece(3) == "<0x00>");
  CHECK(tokenizer.begin() == 1);
  CHECK(tokenizer.ends() == Ids{1});
  CHECK_THROWS_AS(tokenizer.encode("\xFF"), DataError);
  CHECK_THROWS_AS(tokenizer.decode({266}), DataError);
}

TEST_CASE("llama2.c's vocabulary: what is none is refused") {
  const std::string whole = small_llama2c_vocabulary({{"a", 0}});
  CHECK(complaint(whole) == "nothing");
  CHECK(complaint("").find("piece 3 must be <0x00>") != std::string::npos);
  CHECK(complaint(whole.substr(0, whole.size() - 4)).find("ends within piece 259") !=
        std::string::npos);
  CHECK(complaint(whole.substr(0, whole.size() - 1)).find("piece 259 has 1 bytes") !=
        std::string::npos);
  std::string negative = whole;
  negative[whole.size() - 2] = '\x80';
  CHECK(complaint(negative).find("is no vocabulary of llama2.c: piece 259 has -") !=
        std::string::npos);
}

TEST_CASE("a file of another kind is not taken for one of llama2.c") {
  const TokenizerFolder folder;
  folder.file("tokenizer.bin", small_llama2c_vocabulary({{"a", 0}}));
  for (const std::string& text : {std::string("2\n0 0 1 2\n"), std::string(100, '0')}) {
    const std::string path = folder.file("table.txt", text);
    CHECK_FALSE(has_tokenizer(path));
    CHECK(missing_tokenizer(path) ==
          "'" + path +
              "' is a file, and a tokenizer lies in the folder of a checkpoint, or beside a file "
              "of llama2.c");
  }
}

TEST_CASE("the vocabulary beside a file of llama2.c is that of its number of tokens") {
  const TokenizerFolder folder;
  std::string model(28, '\0');
  const std::int32_t vocabulary = -260;
  std::memcpy(model.data() + 20, &vocabulary, 4);
  const std::string path = folder.file("model.bin", model);
  CHECK(!has_tokenizer(path));
  CHECK_THROWS_WITH_AS(
      open_tokenizer(path),
      ("'" + path + "' has no tokenizer: there is neither tok260.bin nor tokenizer.bin beside '" +
       path + "'")
          .c_str(),
      DataError);
  folder.file("tokenizer.bin", small_llama2c_vocabulary({{"a", 0}, {"b", 0}}));
  CHECK(has_tokenizer(path));
  CHECK_THROWS_AS(open_tokenizer(path), DataError);
  folder.file("tok260.bin", small_llama2c_vocabulary({{"a", 0}}));
  CHECK(open_tokenizer(path)->vocabulary() == 260);
  // It goes along with a checkpoint that is made of the file.
  const fs::path copy = folder.path / "copy";
  fs::create_directories(copy);
  copy_tokenizer(path, copy.string());
  CHECK(open_tokenizer(copy.string())->vocabulary() == 260);
}

}  // namespace draftlab
