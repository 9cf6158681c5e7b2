#include "core/config/config.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace draftlab {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone at the end.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "draftlab-config-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

std::string value(const Config& config, const std::string& key) {
  const Config::Entry* const entry = config.find(key);
  return entry ? entry->value : "(none)";
}

TEST_CASE("sections, dotted keys and comments") {
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "# Does it work?\n; yes\n\nmodel = table  # a toy\nrouter.hysteresis.on = 1\n[decode]\n"
      "top_p=0.9 ; comment\n[ task.infill ]\nfile = a#b;c\nempty =\n",
      "a.ini", diagnostics);
  CHECK(diagnostics.empty());
  CHECK(config.title() == "Does it work?\nyes");
  CHECK(value(config, "model") == "table");
  CHECK(value(config, "router.hysteresis.on") == "1");
  CHECK(value(config, "decode.top_p") == "0.9");
  // Without white space before it, it begins no comment.
  CHECK(value(config, "task.infill.file") == "a#b;c");
  CHECK(value(config, "task.infill.empty") == "");
  CHECK(config.find("decode.top_p")->where == "a.ini:7");
  CHECK(config.section("task.infill").size() == 2);
  CHECK(config.section("task.in").empty());
}

TEST_CASE("a value that ends in a comma goes on in the next line, if that is indented") {
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "[sweep]\narm = a, b,  # two\n\n      # and\n      c,\n\td = e\nmodel = f,\nrouter = "
      "g\n[arm.a]\n"
      "label = one,\n",
      "a.ini", diagnostics);
  CHECK(diagnostics.empty());
  CHECK(value(config, "sweep.arm") == "a, b, c, d = e");
  CHECK(config.find("sweep.arm")->where == "a.ini:2");
  CHECK(value(config, "sweep.model") == "f,");
  CHECK(value(config, "sweep.router") == "g");
  CHECK(value(config, "arm.a.label") == "one,");
}

TEST_CASE("a path that begins with ./ or ../ is relative to the file that names it") {
  Folder folder;
  folder.path = fs::canonical(folder.path);
  const std::string path =
      folder.write("configs/a.ini",
                   "include = base/b.ini\nmodel.table.checkpoint = ./mine\n[sweep]\n"
                   "model.draft.checkpoint = ../data/x, ../data/a folder/y,data/z\n"
                   "baseline = model.draft.checkpoint=../data/x drafter=self\n");
  folder.write("configs/base/b.ini",
               "task.infill.path = ../../data/stories.txt\ntask.infill.source = a../b ..c .d\n");
  const auto read = [&](const std::string& file) {
    Diagnostics diagnostics;
    const Config config = Config::read(file, {{"model.judge.checkpoint", "../judge"}}, diagnostics);
    CHECK(diagnostics.empty());
    return config;
  };
  // From a folder above it, they are relative to that folder, as all other paths are.
  const fs::path before = fs::current_path();
  fs::current_path(folder.path);
  const Config above = read("configs/a.ini");
  const Config whole = read(path);
  fs::current_path(folder.path / "configs");
  const Config inside = read("a.ini");
  fs::current_path(before);
  CHECK(value(above, "task.infill.path") == "data/stories.txt");
  CHECK(value(above, "model.table.checkpoint") == "configs/mine");
  CHECK(value(above, "sweep.model.draft.checkpoint") == "data/x, data/a folder/y,data/z");
  CHECK(value(above, "sweep.baseline") == "model.draft.checkpoint=data/x drafter=self");
  CHECK(value(above, "task.infill.source") == "a../b ..c .d");
  for (const Config::Entry* const entry : above.entries())
    CHECK(value(whole, entry->key) == entry->value);
  // From elsewhere they are absolute. A flag's path is relative to the current folder.
  CHECK(value(inside, "task.infill.path") == folder.path.string() + "/data/stories.txt");
  CHECK(value(inside, "model.table.checkpoint") == "mine");
  CHECK(value(inside, "model.judge.checkpoint") == folder.path.string() + "/judge");
}

TEST_CASE("a byte-order mark and carriage returns are harmless") {
  Diagnostics diagnostics;
  const Config config =
      Config::parse("\xef\xbb\xbfmodel = table\r\n[decode]\r\ntop_k = 3\r\n", "a.ini", diagnostics);
  CHECK(diagnostics.empty());
  CHECK(value(config, "model") == "table");
  CHECK(value(config, "decode.top_k") == "3");
}

TEST_CASE("faults of syntax come together, each with its line") {
  Diagnostics diagnostics;
  Config::parse(
      "model table\n[decode\ntop_k = 1\nTop = 2\n[run]\nseed = 1\nseed = 2\nx = \x01\ny = \xff\n",
      "a.ini", diagnostics);
  REQUIRE(diagnostics.sentences().size() == 6);
  CHECK(diagnostics.sentences()[0] ==
        "a.ini:1: 'model table' is neither [section], key = value nor # comment");
  CHECK(diagnostics.sentences()[1] ==
        "a.ini:2: '[decode' is not a section; write [part.name] in lower case");
  CHECK(diagnostics.sentences()[2] ==
        "a.ini:4: 'Top' is not a key; keys have lower-case letters, digits, '_', '-' and '.'");
  CHECK(diagnostics.sentences()[3] == "a.ini:7: run.seed is set twice, first in line 6");
  CHECK(diagnostics.sentences()[4] == "a.ini:8: the line is not UTF-8 text");
  CHECK_THROWS_AS(diagnostics.raise(), ConfigError);
}

TEST_CASE("the command line beats the file, a file beats what it includes") {
  const Folder folder;
  folder.write("base/common.ini", "model = table\ndrafter = self\n[decode]\ntop_k = 1\n");
  const std::string path =
      folder.write("a.ini", "# question\ninclude = base/common.ini\ndrafter = ngram\n");
  Diagnostics diagnostics;
  const Config config = Config::read(path, {{"decode.top_k", "7"}}, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(value(config, "model") == "table");
  CHECK(value(config, "drafter") == "ngram");
  CHECK(value(config, "decode.top_k") == "7");
  CHECK(config.find("decode.top_k")->where == "--decode.top_k");
  CHECK(config.find("model")->where == (folder.path / "base/common.ini").string() + ":1");
  CHECK(config.title() == "question");
}

TEST_CASE("includes that are missing or circular are faults of the line that names them") {
  const Folder folder;
  const std::string a = folder.write("a.ini", "include = b.ini\ninclude = no.ini\nmodel = table\n");
  const std::string b = folder.write("b.ini", "include = ./a.ini\n");
  Diagnostics diagnostics;
  const Config config = Config::read(a, {}, diagnostics);
  REQUIRE(diagnostics.sentences().size() == 2);
  CHECK(diagnostics.sentences()[0] == b + ":1: include = ./a.ini includes itself");
  CHECK(diagnostics.sentences()[1] ==
        a + ":2: include = no.ini, but " + (folder.path / "no.ini").string() + " does not exist");
  CHECK(value(config, "model") == "table");
}

TEST_CASE("includes cannot multiply without end") {
  const Folder folder;
  for (int i = 0; i < 20; ++i) {
    const std::string next = "include = " + std::to_string(i + 1) + ".ini\n";
    folder.write(std::to_string(i) + ".ini", next + next);
  }
  folder.write("20.ini", "model = table\n");
  Diagnostics diagnostics;
  Config::read((folder.path / "0.ini").string(), {}, diagnostics);
  CHECK(diagnostics.sentences().size() == 1);
}

TEST_CASE("a file with tens of thousands of keys is refused at once, in one sentence") {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "[nothing" + std::to_string(i) + "]\na = 1\n";
  Diagnostics diagnostics;
  Config::parse(text, "many.ini", diagnostics);
  REQUIRE(diagnostics.sentences().size() == 1);
  CHECK(diagnostics.sentences()[0] ==
        "many.ini has 50000 keys, more than 10000, so it is no config");
}

TEST_CASE("a config that cannot be read is bad data") {
  Diagnostics diagnostics;
  CHECK_THROWS_WITH_AS(Config::read("no/such.ini", {}, diagnostics), "no/such.ini does not exist",
                       DataError);
  CHECK_THROWS_AS(Config::read("/", {}, diagnostics), DataError);
  CHECK_THROWS_AS(Config::read("/dev/zero", {}, diagnostics), DataError);
}

TEST_CASE("overrides that no config could hold are faults") {
  const Folder folder;
  const std::string path = folder.write("a.ini", "model = table\n");
  Diagnostics diagnostics;
  Config::read(path,
               {{"decode.Top", "1"}, {"task.infill.file", "a #b"}, {"task.infill.file", "a\nb"}},
               diagnostics);
  CHECK(diagnostics.sentences().size() == 3);
}

}  // namespace
}  // namespace draftlab
