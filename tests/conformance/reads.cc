// Parts say which options of [decode] they read; here each is decoded with two values of an option,
// and must tell them apart where it says so and nowhere else.
#include <doctest/doctest.h>

#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

const Registries& every_plugin() {
  static const Registries all = [] {
    Registries made;
    register_builtin_plugins(made);
    return made;
  }();
  return all;
}

// The text of a decode without verification and the number of its steps.
std::string outcome(const std::string& lines, std::uint64_t seed) {
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "model.draft = table\ntask = positions\nrouter = never\nmodel.noisy-table.length = 8\n"
      "model.table.length = 8\nmodel.table.kind = sets\n"
      "model.draft.length = 8\ntask.positions.length = 8\ntask.positions.prompt = 0:1\n"
      "decode.block_size = 8\n" +
          std::string(lines.rfind("model = ", 0) == 0 ? "" : "model = table\n") + lines,
      "a.ini", diagnostics);
  const Composition arm = compose(config, every_plugin(), diagnostics);
  diagnostics.raise();
  static Loaded loaded;  // A toy draws its tables when it is loaded.
  const Models models = load_models(arm, arm.run.machine, loaded);
  const auto task = arm.task.make();
  task->load(nullptr);
  SampledChance chance(seed);
  Decoder decoder(arm, models, task->prompt(0), {chance, 1});
  const SampleRow row = drive(models, decoder, decoder.decode());
  return decoder.canvas().key() + " in " + std::to_string(row.steps.size());
}

bool tells_apart(const std::string& lines, const std::string& one, const std::string& other) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    if (outcome(lines + one, seed) != outcome(lines + other, seed)) return true;
  return false;
}

template <class Interface>
std::unique_ptr<Interface> made(const Registry<Interface>& registry, const std::string& name) {
  Diagnostics diagnostics;
  return registry.find(name)->bind(Config(), "", diagnostics, &registry).make();
}

TEST_CASE("an unmasker reads the threshold and the steps if and only if it says so") {
  for (const std::string& name : every_plugin().unmaskers.names()) {
    CAPTURE(name);
    const auto part = made(every_plugin().unmaskers, name);
    // On a model of three tokens hardly a mind comes to rest, which `klass` waits for.
    const std::string lines = std::string(part->shows() ? "model = noisy-table\n" : "") +
                              "frontier = blocks\ndrafter = denoise\nunmasker = " + name +
                              "\nunmasker.klass.divergence = 10\nunmasker.klass.history = 1\n";
    CHECK(tells_apart(lines, "decode.threshold = 0.05\n", "decode.threshold = 0.95\n") ==
          reads(*part, DecodeKey::threshold));
    CHECK(tells_apart(lines, "decode.steps = 2\n", "decode.steps = 7\n") ==
          reads(*part, DecodeKey::steps));
  }
}

TEST_CASE("what a frontier or a drafter does not say that it reads changes nothing") {
  const std::vector<std::pair<DecodeKey, std::pair<std::string, std::string>>> values = {
      {DecodeKey::threshold, {"decode.threshold = 0.05\n", "decode.threshold = 0.95\n"}},
      {DecodeKey::steps, {"decode.steps = 2\n", "decode.steps = 7\n"}},
      {DecodeKey::draft_length, {"decode.draft_length = 1\n", "decode.draft_length = 4\n"}}};
  const auto check = [&](const auto& registry) {
    for (const std::string& name : registry.names()) {
      const auto part = made(registry, name);
      const std::vector<Form> asked = part->asks();
      if (std::count(asked.begin(), asked.end(), Form::reverse)) continue;  // It is for vectors.
      for (const auto& [key, pair] : values) {
        if (reads(*part, key)) continue;
        // The drafter beside a frontier makes no chain, so the draft length is nobody's.
        const std::string beside =
            registry.kind() == "drafter" ? "frontier = blocks\n" : "drafter = stepwise\n";
        CAPTURE(registry.kind() + " = " + name);
        CAPTURE(pair.first);
        CHECK_FALSE(
            tells_apart(beside + registry.kind() + " = " + name + "\n", pair.first, pair.second));
      }
    }
  };
  check(every_plugin().drafters);
  check(every_plugin().frontiers);
}

TEST_CASE("a frontier with a schedule reads the steps, and one with edits the steps after them") {
  Diagnostics diagnostics;
  const auto read = [&](const std::string& name, const std::string& options) {
    const Config config = Config::parse(options, "a.ini", diagnostics);
    return every_plugin().frontiers.find(name)->bind(config, "it", diagnostics).make()->reads();
  };
  CHECK(read("random", "it.schedule = cosine\n") == std::vector{DecodeKey::steps});
  CHECK(read("random", "").empty());
  CHECK(read("blocks", "") == std::vector{DecodeKey::edit_threshold, DecodeKey::post_steps});
  CHECK(read("lattice", "").empty());
}

}  // namespace
}  // namespace draftlab
