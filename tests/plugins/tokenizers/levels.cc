#include "plugins/tokenizers/levels.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("draftlab-levels-" + std::to_string(getpid()));
  explicit Folder(const std::string& text) {
    std::filesystem::create_directories(path);
    std::ofstream(path / "levels.json") << text;
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

TEST_CASE("levels: token i is the level i, and its text is the number") {
  const Folder folder("{\"levels\": 32}");
  REQUIRE(has_tokenizer(folder.path));
  const auto levels = open_tokenizer(folder.path);
  CHECK(levels->vocabulary() == 34);
  CHECK(levels->encode("0 31  7") == std::vector<Token>{0, 31, 7});
  CHECK(levels->decode({0, 31, levels->begin(), 7, levels->separator()}) == "0 31 7");
  CHECK(levels->begin() == 32);
  CHECK(levels->separator() == 33);
  CHECK(levels->piece(9) == "9");
  CHECK(levels->piece(33) == "<sep>");
  for (const char* bad : {"32", "-1", "7x", "seven", "99999999999"})
    CHECK_THROWS_WITH_AS(
        levels->encode(bad),
        ("'" + std::string(bad) + "' is no level of the model's tokenizer, which has 0 to 31")
            .c_str(),
        DataError);
}

TEST_CASE("levels: a file without a number of levels is refused") {
  for (const char* bad : {"{", "[]", "{}", "{\"levels\": 1}", "{\"levels\": 65537}",
                          "{\"levels\": -3}", "{\"levels\": \"32\"}", "{\"levels\": 2.5}"}) {
    const Folder folder(bad);
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(open_tokenizer(folder.path),
                         ("'" + (folder.path / "levels.json").string() +
                          "' has no \"levels\", a whole number in [2, 65536]")
                             .c_str(),
                         DataError);
  }
}

}  // namespace
}  // namespace draftlab
