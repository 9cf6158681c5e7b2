#include "experiments/check/check.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "core/base/error.h"
#include "experiments/command/parse.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/complaint.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

using testing::has;

// What `draftlab check` prints of a config, and of what is wrong with it.
struct Checked {
  std::string printed, refused;

  explicit Checked(const std::string& config, void (*add)(Registries&) = nullptr) {
    const TraceFolder folder("check");
    const std::string path = folder / "a.ini";
    std::ofstream(path) << config;
    Registries registries;
    register_builtin_plugins(registries);
    register_sections(registries);
    if (add) add(registries);
    std::ostringstream out;
    std::streambuf* const screen = std::cout.rdbuf(out.rdbuf());
    try {
      const Parsed parsed = parse(check_command(), {path});
      parsed.run(parsed.line, registries);
    } catch (const Error& error) {
      refused = error.what();
    }
    std::cout.rdbuf(screen);
    printed = out.str();
  }
};

const std::string kToy = "# Does it decode? It does.\nmodel = table\ntask = positions\n";

TEST_CASE("check shows the question of a config and its cells") {
  const Checked checked(kToy + "[sweep]\nbaseline = drafter=stepwise\ndrafter = self, stepwise\n");
  CHECK(checked.refused == "");
  CHECK(has(checked.printed, ": 2 cells\n  Does it decode?\n"));
  CHECK(has(checked.printed, "  drafter=stepwise  (baseline)\n"));
  CHECK_FALSE(has(checked.printed, "warning"));
}

TEST_CASE("check names an axis that no part reads, and the cells that it makes equal") {
  const Checked checked(kToy + "unmasker = one\n[sweep]\ndecode.threshold = 0.2, 0.9\n");
  CHECK(checked.refused == "");
  CHECK(has(checked.printed,
            "a.ini:6: decode.threshold has no effect: no part of any cell reads "
            "it; these decode alike: 'decode.threshold=0.2' and "
            "'decode.threshold=0.9'\n"));
  const Checked read(kToy + "unmasker = threshold\n[sweep]\ndecode.threshold = 0.2, 0.9\n");
  CHECK_FALSE(has(read.printed, "warning"));
}

TEST_CASE("what a run would be refused for is found without loading a model") {
  CHECK(has(Checked(kToy + "run.first = 3\n").refused,
            "the task has no prompts from run.first = 3 on"));
  CHECK(has(Checked(kToy + "frontier = left-to-right\ntask.positions.prompt = 2:1\n").refused,
            "frontier = left-to-right needs a prompt that is a prefix"));
}

TEST_CASE("a tokenizer is missed only where there is a checkpoint to hold it") {
  const std::string config = "model = any-subset\ntask = story\n[model.any-subset]\ncheckpoint =";
  const std::string without = Checked(config + "\n").refused;
  CHECK(has(without, "model.any-subset.checkpoint is not set, and a run needs it"));
  CHECK_FALSE(has(without, "has no tokenizer"));
  const TraceFolder folder("no_tokenizer");
  std::ofstream(folder / "config.json") << "{}";
  CHECK(has(Checked(config + " " + folder.path + "\n").refused,
            "task 'story' decodes text, but the model has no tokenizer: there is neither"));
}

// A model of a user's own: what it calls its checkpoint is a file of its own kind.
class OneFile final : public Model {
 public:
  struct Options {
    std::string checkpoint = "none";
    void declare(OptionSet& set) { set.add("checkpoint", &checkpoint).help("A table."); }
  };
  explicit OneFile(const Options&) {}
  void load(const Machine&) override {}
  ModelFacts facts() const override { return {}; }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }

 private:
  void evaluate(std::span<Pending>) override {}
};

void add_one_file(Registries& registries) {
  registries.models.set_plugin("libone.so");
  registries.models.add<OneFile>("one-file", "of a test", {Form::committed, Form::chain});
}

TEST_CASE("a plugin's model is not asked for a folder of weights, nor for a tokenizer") {
  const std::string model = "# Does it decode?\nmodel = one-file\n";
  CHECK(Checked(model + "task = positions\n", add_one_file).refused == "");
  CHECK_FALSE(has(Checked(model + "task = continuation\n", add_one_file).refused, "tokenizer"));
}

}  // namespace
}  // namespace draftlab
