#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "tests/plugins/tasks/words.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

std::unique_ptr<Task> made_task(const std::string& name, const std::string& options) {
  static const Registries registries = [] {
    Registries all;
    register_task_infill(all);
    register_task_prefix(all);
    register_task_continuation(all);
    register_task_story(all);
    return all;
  }();
  Diagnostics diagnostics;
  const Config config = Config::parse("[task." + name + "]\n" + options, "test.ini", diagnostics);
  const auto bound = registries.tasks.find(name)->bind(config, "task." + name, diagnostics);
  diagnostics.raise();
  return bound.make();
}

Canvas filled(const Prompt& prompt, int wrong = 0) {
  Canvas canvas(prompt.length, prompt.given);
  for (std::int32_t position : canvas.masked_positions())
    canvas.commit(position, wrong-- > 0 ? 9 : prompt.reference[position]);
  return canvas;
}

double score(const Task& task, const Prompt& prompt, const Canvas& canvas,
             const std::string& name) {
  for (const Score& one : task.score(prompt, canvas))
    if (one.name == name) return one.value;
  return -1;
}

// A file that lives as long as the process, overwritten by the next.
std::string file(const std::string& bytes) {
  static const struct File {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("draftlab_task_" + std::to_string(getpid())))
            .string();
    ~File() { std::filesystem::remove(path); }
  } one;
  std::ofstream(one.path, std::ios::binary) << bytes;
  return one.path;
}

TEST_CASE(
    "infill: the number of visible tokens is int((1 - rate) L) + 1, and the mask depends on the "
    "prompt alone") {
  const Words words;
  std::string line;
  for (int i = 0; i < 100; ++i) line += "w" + std::to_string(i) + " ";
  const std::string path = file(line + "\n" + line + "\n");
  const auto task =
      made_task("infill", "source = text\npath = " + path + "\nbegin = false\nmask_rate = 0.95\n");
  task->load(&words);
  REQUIRE(task->size() == 2);
  const Prompt prompt = task->prompt(0), other = task->prompt(1);
  CHECK(prompt.length == 100);
  CHECK(prompt.given.size() == 6);
  CHECK(prompt.given != other.given);
  CHECK(prompt.id != other.id);
  CHECK(prompt.given == task->prompt(0).given);
  CHECK(std::is_sorted(prompt.given.begin(), prompt.given.end()));
  for (const auto& [position, token] : prompt.given) CHECK(token == prompt.reference[position]);
  CHECK(score(*task, prompt, filled(prompt), "token_match") == 1);
  CHECK(score(*task, prompt, filled(prompt), "exact_match") == 1);
  CHECK(task->text(prompt, filled(prompt)) == prompt.text);
  CHECK(task->digest().size() == 16);

  const auto all = made_task("infill",
                             "source = text\npath = " + path + "\nbegin = false\nmask_rate = 0\n"),
             none = made_task("infill",
                              "source = text\npath = " + path + "\nbegin = false\nmask_rate = 1\n");
  all->load(&words);
  none->load(&words);
  CHECK(all->prompt(0).given.size() == 99);  // One is left to decode.
  CHECK(none->prompt(0).given.size() == 1);  // One is given.
}

TEST_CASE("infill: every position is visible in some prompt") {
  const Words words;
  const auto task = made_task("infill", "length = 40\ncount = 200\nbegin = false\n");
  task->load(&words);
  std::set<std::int32_t> seen;
  for (int i = 0; i < task->size(); ++i)
    for (const auto& given : task->prompt(i).given) seen.insert(given.first);
  CHECK(seen.size() == 40);
}

TEST_CASE("chunks: documents are joined by <sep><cls></s> and cut; the tail is dropped") {
  const Words words;
  const auto task =
      made_task("infill", "source = text\npath = " + file("a b c\nd e f\ng h i\n") +
                              "\nbegin = false\npacking = chunks-xlnet\nlength = 8\nleast = 3\n");
  task->load(&words);
  REQUIRE(task->size() == 2);  // That is 3 x 6 tokens.
  CHECK(task->prompt(0).reference == std::vector<Token>{9, 10, 11, 4, 3, 2, 12, 13});
  CHECK(task->prompt(1).reference == std::vector<Token>{14, 4, 3, 2, 15, 16, 17, 4});
}

TEST_CASE(
    "a canvas begins with <s>, which is given and no part of the text; chunks are joined by "
    "<sep>") {
  const Words words;
  const std::string path = file("a b c\nd e f\ng h i\n");
  const auto task =
      made_task("infill", "source = text\npath = " + path +
                              "\npacking = chunks\nlength = 6\nleast = 3\nmask_rate = 1\n");
  task->load(&words);
  REQUIRE(task->size() == 2);  // There are 3 x 4 tokens, and 5 a canvas.
  const Prompt prompt = task->prompt(1);
  CHECK(prompt.reference == std::vector<Token>{1, 13, 14, 4, 15, 16});
  CHECK(prompt.given.size() == 2);  // These are <s> and one token of the text.
  CHECK(prompt.given[0] == std::pair<std::int32_t, Token>{0, 1});
  CHECK(prompt.offset == 1);
  CHECK(task->text(prompt, filled(prompt)) == "e f <4> g h");
}

TEST_CASE("prefix: the first tokens are given; without any, <s> stands before the text") {
  const Words words;
  const std::string path = file("a b c d e f g h\nshort\n");
  const auto task = made_task(
      "prefix", "source = text\npath = " + path + "\nbegin = false\nprompt = 3\nleast = 2\n");
  task->load(&words);
  REQUIRE(task->size() == 1);
  const Prompt prompt = task->prompt(0);
  CHECK(prompt.given == std::vector<std::pair<std::int32_t, Token>>{{0, 9}, {1, 10}, {2, 11}});
  CHECK(prompt.length == 8);
  CHECK(score(*task, prompt, filled(prompt, 2), "token_match") == doctest::Approx(3.0 / 5));
  CHECK(score(*task, prompt, filled(prompt, 2), "exact_match") == 0);

  const auto free =
      made_task("prefix", "source = text\npath = " + path + "\nprompt = 0\nleast = 2\n");
  free->load(&words);
  const Prompt open = free->prompt(0);
  CHECK(open.given == std::vector<std::pair<std::int32_t, Token>>{{0, 1}});
  CHECK(open.length == 9);
  CHECK(open.offset == 1);
  CHECK(free->text(open, filled(open)) == "a b c d e f g h");
  CHECK_THROWS_AS(made_task("prefix", "packing = chunks\nlength = 16\nprompt = 15\n"), ConfigError);
  CHECK_THROWS_AS(made_task("prefix", "begin = false\nprompt = 0\n"), ConfigError);
}

TEST_CASE("continuation: each line of a file begins a canvas of one length") {
  const Words words;
  const std::string path = file("a b c\n\nd\n"), lines = testing::scratch("beginnings.jsonl");
  std::ofstream(lines) << "{\"text\": \"a\\nb\"}\n";
  const auto task = made_task("continuation", "path = " + path + "\nlength = 6\n");
  task->load(&words);
  REQUIRE(task->size() == 2);
  const Prompt prompt = task->prompt(0);
  CHECK(prompt.given ==
        std::vector<std::pair<std::int32_t, Token>>{{0, 1}, {1, 9}, {2, 10}, {3, 11}});
  CHECK(prompt.length == 6);
  CHECK(prompt.offset == 1);
  CHECK(prompt.id != task->prompt(1).id);
  CHECK(task->score(prompt, Canvas(6, prompt.given)).empty());
  Canvas canvas(6, prompt.given);
  canvas.commit(4, 9);
  CHECK(task->text(prompt, canvas) == "a b c a");
  // Equal data have one digest, and another beginning has another.
  const std::string digest = task->digest();
  task->load(&words);
  CHECK(task->digest() == digest);
  // A text takes the place of the file, and without either the model begins by itself.
  const auto one = made_task("continuation", "path = " + path + "\ntext = c\nlength = 4\n"),
             none = made_task("continuation", ""),
             json = made_task("continuation", "path = " + lines + "\nfield = text\n");
  one->load(&words);
  CHECK(one->size() == 1);
  CHECK(one->digest() != digest);
  none->load(&words);
  CHECK(none->prompt(0).given == std::vector<std::pair<std::int32_t, Token>>{{0, 1}});
  json->load(&words);
  CHECK(json->prompt(0).given.size() == 3);
  const auto bare = made_task("continuation", "begin = false\n");
  CHECK_THROWS_AS(bare->load(&words), ConfigError);
  const auto full = made_task("continuation", "path = " + path + "\nlength = 4\n");
  CHECK_THROWS_WITH_AS(full->load(&words),
                       "task.continuation.length = 4 leaves nothing to decode of beginning 0, "
                       "which has 4 tokens",
                       ConfigError);
}

TEST_CASE("story: one or three sentences are hidden, with the length that stood there") {
  const Words words;
  const std::string path = file(
      "sentence1,sentence2,sentence3,sentence4,sentence5\none two.,three.,the cat sat.,five "
      "six.,end.\n");
  const auto one =
                 made_task("story", "source = csv\nbegin = false\nhide = 1\npath = " + path + "\n"),
             three =
                 made_task("story", "source = csv\nbegin = false\nhide = 3\npath = " + path + "\n");
  one->load(&words);
  three->load(&words);
  const Prompt prompt = one->prompt(0);
  CHECK(prompt.length == 9);
  CHECK(prompt.given.size() == 6);
  CHECK(three->prompt(0).given.size() == 3);
  CHECK(prompt.text == "one two. three. the cat sat. five six. end.");
  CHECK(score(*one, prompt, filled(prompt), "rouge1") == doctest::Approx(100));
  CHECK(score(*one, prompt, filled(prompt), "exact_match") == 1);
  // Token 9 is "one": "one cat sat." against "the cat sat." shares two words of three and one
  // bigram of two.
  CHECK(score(*one, prompt, filled(prompt, 1), "rouge1") == doctest::Approx(200.0 / 3));
  CHECK(score(*one, prompt, filled(prompt, 1), "rouge2") == doctest::Approx(50));
  CHECK(score(*one, prompt, filled(prompt, 1), "rougel") == doctest::Approx(200.0 / 3));
  CHECK(score(*one, prompt, filled(prompt, 1), "exact_match") == 0);
  CHECK(one->text(prompt, filled(prompt, 1)) == "one two. three. one cat sat. five six. end.");
}

TEST_CASE("story: what sees the left alone is given what stands before, and ends where it ends") {
  const Words words;
  for (const char* hide : {"1", "3"}) {
    const std::string options = "count = 4\nhide = " + std::string(hide) + "\n";
    const auto both = made_task("story", options),
               left = made_task("story", options + "sees = left\n");
    both->load(&words);
    left->load(&words);
    for (int i = 0; i < 4; ++i) {
      const Prompt whole = both->prompt(i), part = left->prompt(i);
      REQUIRE(part.length < whole.length);
      CHECK(std::equal(part.reference.begin(), part.reference.end(), whole.reference.begin()));
      // As many positions are hidden, behind everything that is given.
      CHECK(part.length - part.given.size() == whole.length - whole.given.size());
      for (std::size_t j = 0; j < part.given.size(); ++j)
        CHECK(part.given[j].first == static_cast<std::int32_t>(j));
    }
  }
}

TEST_CASE("story: generated stories are told apart by their split") {
  const Words words;
  const auto test = made_task("story", "count = 3\n"),
             validation = made_task("story", "count = 3\nsplit = validation\n"),
             hidden = made_task("story", "count = 3\nhide = 3\n");
  hidden->load(&words);
  test->load(&words);
  validation->load(&words);
  CHECK(test->size() == 3);
  CHECK(test->prompt(2).id.rfind("stories-test-2-", 0) == 0);
  CHECK(test->prompt(2).id != hidden->prompt(2).id);  // It is the same story, but another prompt.
  CHECK(test->digest() != validation->digest());
  CHECK(test->prompt(0).text != validation->prompt(0).text);
}

TEST_CASE("what cannot be decoded is refused in one sentence") {
  const Words words;
  CHECK_THROWS_AS(made_task("continuation", "")->load(nullptr), ConfigError);
  for (const char* name : {"infill", "prefix", "story"}) {
    const auto task = made_task(name, "");
    CHECK_THROWS_WITH_AS(
        task->load(nullptr),
        ("task '" + std::string(name) + "' decodes text, but the model has no tokenizer").c_str(),
        ConfigError);
    const auto pathless = made_task(name, "source = text\n");
    CHECK_THROWS_AS(pathless->load(&words), ConfigError);
    const auto endless = made_task(name, "count = 0\n");
    CHECK_THROWS_AS(endless->load(&words), ConfigError);
  }
  const auto brief = made_task("infill", "source = text\npath = " + file("a b\n") + "\n");
  CHECK_THROWS_AS(brief->load(&words), DataError);
}

}  // namespace
}  // namespace draftlab
