#include "experiments/config_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace draftlab;

TEST_CASE("the comment that opens a config says item, question, time and command") {
  const ConfigEntry entry =
      described("assd/table5.ini",
                "ASSD, Table 5: how many tokens to draft (k)?\nPaper: 3.\nThis takes about "
                "15 min on 2 cores.\n");
  CHECK(entry.item == "ASSD, Table 5");
  CHECK(entry.question == "How many tokens to draft (k)?");
  CHECK(entry.takes == "about 15 min on 2 cores");
  CHECK(entry.command == "run");
}

TEST_CASE("an item in the middle of the question is named, and the question stays whole") {
  const ConfigEntry entry =
      described("bpd/models.ini", "Does a base lose (slides, Table 1, column fine-tuned)? Yes.\n");
  CHECK(entry.item == "slides, Table 1");
  CHECK(entry.question == "Does a base lose (slides, Table 1, column fine-tuned)?");
  CHECK(entry.takes.empty());
  CHECK(described("a/b.ini", "CSpD, Figures 6, 7 and 16: pictures.\n").item ==
        "CSpD, Figures 6, 7 and 16");
  CHECK(described("a/b.ini", "Is it lossless?\n").item.empty());
}

TEST_CASE("a command that names the file goes before that of the folder") {
  CHECK(described("certify/a/b.ini", "Is it?\n").command == "certify");
  CHECK(described("train/b.ini", "A model.\n").command == "train");
  CHECK(described("base/b.ini", "Shared.\n").command.empty());
  CHECK(described("assd/f.ini", "A figure.\n  ./draftlab train configs/assd/f.ini --out x\n")
            .command == "train");
  CHECK(described("ssd/f.ini", "A figure.\n  draftlab bench batch configs/ssd/f.ini\n").command ==
        "bench batch");
  // The command of another file says nothing of this one.
  CHECK(described("ssd/f.ini", "A figure.\n  draftlab train configs/train/f.ini\n").command ==
        "run");
}

TEST_CASE("every config of the tree is in the index, with a question of its own") {
  const std::vector<ConfigEntry> index = config_index(DRAFTLAB_SOURCE_DIR "/configs");
  CHECK(index.size() > 300);
  std::set<std::string> questions;
  for (const ConfigEntry& entry : index) {
    CAPTURE(entry.path.string());
    CHECK(entry.question.size() > 20);
    CHECK(questions.insert(entry.item + entry.question).second);
    // What runs in under a second and what needs a day must be told apart before it is started.
    if (entry.command == "certify") CHECK(!entry.takes.empty());
  }
}
