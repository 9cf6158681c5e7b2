#include "experiments/command/parse.h"

#include <doctest/doctest.h>

#include <sstream>

#include "core/base/error.h"

namespace draftlab {
namespace {

struct Flags {
  std::string out;
  bool resume = false;
  std::int64_t jobs = 1;
  void declare(OptionSet& set) {
    set.add("out", &out).help("Where it goes.");
    set.add("resume", &resume).help("Goes on.");
    set.add("jobs", &jobs).in(1, 8).help("How many.");
  }
};

Flags seen;
int act(const Flags& flags, const CommandLine& line, const Registries&) {
  seen = flags;
  return static_cast<int>(line.paths.size());
}

Command command(bool takes_config) {
  return {.name = "act",
          .arguments = "FILE",
          .summary = "act on a file",
          .most = 2,
          .takes_config = takes_config,
          .flags = with_flags(act)};
}

std::string refused(const std::vector<std::string>& words, bool takes_config = true) {
  try {
    parse(command(takes_config), words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("the words of a command are its flags, its files and the overrides of a config") {
  const Parsed parsed =
      parse(command(true), {"a.ini", "--jobs", "3", "--resume", "--drafter=ngram", "--limit", "5",
                            "--router.score.floor", "-1", "--fixed-shape", "b.ini"});
  CHECK(parsed.line.paths == std::vector<std::string>{"a.ini", "b.ini"});
  CHECK(parsed.line.overrides == Pairs{{"drafter", "ngram"},
                                       {"run.limit", "5"},
                                       {"router.score.floor", "-1"},
                                       {"run.fixed_shape", "true"}});
  CHECK(parsed.run(parsed.line, Registries()) == 2);
  CHECK(seen.jobs == 3);
  CHECK(seen.resume);
  CHECK(seen.out.empty());
  CHECK_FALSE(parsed.help);
}

TEST_CASE("words that a command does not know are refused in a sentence that helps") {
  CHECK(refused({"a.ini", "--job", "3"}) == "draftlab act has no flag --job; did you mean --jobs?");
  CHECK(refused({"a.ini", "--jobs", "9"}).find("--jobs 9 must be in [1, 8]") != std::string::npos);
  CHECK(refused({"a.ini", "--out", ""}) ==
        "draftlab act: --out is empty; leave it out for its default");
  CHECK(refused({"a.ini", "--drafter"}) == "--drafter needs a value");
  CHECK(refused({}) == "usage: draftlab act FILE");
  CHECK(refused({"a", "b", "c"}) == "usage: draftlab act FILE");
  CHECK(refused({"a.ini", "--decode.steps", "3"}, false) ==
        "draftlab act reads no config, so --decode.steps means nothing to it");
}

TEST_CASE("help names the flags, with their defaults, and needs no file") {
  CHECK(parse(command(true), {"--help"}).help);
  std::ostringstream out;
  print_help(command(true), out);
  for (const char* const said :
       {"usage: draftlab act FILE", "--jobs VALUE", "How many. Default: 1.", "--resume",
        "--limit VALUE", "Sets run.limit."})
    CHECK(out.str().find(said) != std::string::npos);
}

TEST_CASE("the words behind a command's last flag belong to another program") {
  Command runs = command(false);
  runs.last = "run";
  const Parsed parsed = parse(runs, {"a", "--run", "python3", "--jobs", "99"});
  CHECK(parsed.line.passes);
  CHECK(parsed.line.passed == std::vector<std::string>{"python3", "--jobs", "99"});
  CHECK(parsed.line.paths == std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace draftlab
