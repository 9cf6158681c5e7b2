#include "experiments/command/parse.h"
#include "experiments/commands.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/config/train.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

struct Call {
  std::string out;
  std::uint64_t seed;
  std::int64_t size;
  bool resume, generates;
};
std::vector<Call> calls;

class Recorder final : public Trainer {
 public:
  struct Options {
    std::int64_t size = 1;
    void declare(OptionSet& set) { set.add("size", &size).in(1, 9).help("anything"); }
  };
  explicit Recorder(const Options& options) : options_(options) {}
  void run(const TrainContext& context) override {
    calls.push_back({context.out, context.seed, options_.size, context.resume,
                     static_cast<bool>(context.generate)});
  }

 private:
  Options options_;
};

// What `draftlab train WORDS...` does.
int train(const std::vector<std::string>& words, const Registries& registries) {
  const Parsed parsed = parse(train_command(), words);
  return parsed.run(parsed.line, registries);
}

void registry_with_recorder(Registries& registries) {
  register_builtin_plugins(registries);
  register_sections(registries);
  registries.trainers.add<Recorder>("recorder", "writes down what it is asked");
}

struct File {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("draftlab_train_" + std::to_string(getpid()) + ".ini"))
                         .string();
  explicit File(const std::string& text) { std::ofstream(path) << text; }
  ~File() { std::filesystem::remove(path); }
};

TEST_CASE("a sweep trains each cell in a folder of its own") {
  Registries registries;
  registry_with_recorder(registries);
  const File file("trainer = recorder\n[run]\nseed = 7\n[sweep]\ntrainer.recorder.size = 2, 3\n");
  calls.clear();
  CHECK(train({file.path, "--out", "somewhere", "--resume"}, registries) == 0);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].out == "somewhere/size=2");
  CHECK(calls[1].out == "somewhere/size=3");
  CHECK(calls[1].size == 3);
  CHECK(calls[0].seed == 7);
  CHECK(calls[0].resume);
  CHECK_FALSE(calls[0].generates);
}

TEST_CASE("a checkpoint is written over only by its own training") {
  Registries registries;
  registry_with_recorder(registries);
  const File file("trainer = recorder\n");
  const TraceFolder folder("train-out");
  const auto trained = [&](bool resume) {
    std::vector<std::string> words = {file.path, "--out", folder.path};
    if (resume) words.emplace_back("--resume");
    return train(words, registries);
  };
  CHECK(trained(false) == 0);
  std::ofstream(folder / "spiece.model") << "a tokenizer may be there";
  CHECK(trained(false) == 0);
  std::ofstream(folder / "model.safetensors") << "x";
  CHECK_THROWS_AS(trained(false), OutputError);
  CHECK_THROWS_AS(trained(true), OutputError);
  std::ofstream(folder / "training.safetensors") << "x";
  CHECK_THROWS_AS(trained(false), OutputError);
  CHECK(trained(true) == 0);
}

TEST_CASE("a config without a trainer is refused") {
  const Registries registries;
  const File file("[run]\nseed = 7\n");
  CHECK_THROWS_AS(train({file.path}, registries), ConfigError);
  CHECK_THROWS_AS(train({}, registries), UsageError);
}

}  // namespace
}  // namespace draftlab
