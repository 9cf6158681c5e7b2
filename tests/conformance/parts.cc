// What holds for every plugin of the tree, so that a new one is tested before its author writes a
// test.
#include <doctest/doctest.h>

#include <set>

#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

const Registries& registries() {
  static const Registries all = [] {
    Registries made;
    register_builtin_plugins(made);
    return made;
  }();
  return all;
}

bool is_name(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

TEST_CASE("a config that names none of a kind has the first part of the list") {
  Diagnostics diagnostics;
  const Config config = Config::parse("model = table\ntask = positions\n", "a.ini", diagnostics);
  const Composition arm = compose(config, registries(), diagnostics);
  diagnostics.raise();
  CHECK(arm.frontier.name == "lattice");
  CHECK(arm.drafter.name == "self");
  CHECK(arm.verifier.name == "chain");
  CHECK(arm.acceptance.name == "speculative");
  CHECK(arm.router.name == "always");
  CHECK(arm.unmasker.name == "one");
}

TEST_CASE("every plugin has a name, a summary and a source") {
  registries().each([](const auto& registry) {
    CAPTURE(registry.kind());
    if (registry.kind() != "trainer") CHECK_FALSE(registry.entries().empty());
    for (const auto& entry : registry.entries()) {
      CAPTURE(entry.name);
      CHECK(is_name(entry.name));
      CHECK_FALSE(entry.summary.empty());
      CHECK(entry.summary.find('\n') == std::string::npos);
      CHECK(entry.source.compare(0, 8, "plugins/") == 0);
      if (registry.kind() == "model") CHECK_FALSE(entry.forms.empty());
    }
  });
}

TEST_CASE("every option has help, a default in its range, and a value that reads back") {
  registries().each([](const auto& registry) {
    for (const auto& entry : registry.entries()) {
      CAPTURE(registry.kind() + "." + entry.name);
      OptionSet set;
      entry.with_options(set, [&] {
        std::set<std::string> names;
        for (Option option : set.options()) {
          CAPTURE(option.name());
          CHECK(names.insert(option.name()).second);
          CHECK(option.name().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                std::string::npos);
          CHECK_FALSE(option.help().empty());
          const std::string value = option.value();
          CHECK(option.read(value) == "");
          CHECK(option.value() == value);
        }
      });
    }
  });
}

// A deliberate error is a plugin of its own in plugins/controls/, and says so.
TEST_CASE("controls say what they are, and no other plugin has an option that is one") {
  const auto speaks = [](const std::string& text) {
    return text.find("control") != std::string::npos;
  };
  int controls = 0;
  registries().each([&](const auto& registry) {
    for (const auto& entry : registry.entries()) {
      CAPTURE(registry.kind() + "." + entry.name);
      const bool control = entry.source.compare(0, 17, "plugins/controls/") == 0;
      controls += control;
      CHECK(speaks(entry.summary) == control);
      CHECK((entry.summary.find("lossy") != std::string::npos || !control));
      OptionSet set;
      entry.with_options(set, [&] {
        for (const Option& option : set.options()) CHECK_FALSE(speaks(option.help()));
      });
    }
  });
  CHECK(controls == 6);
}

// The defaults of a plugin, written down as a config, bind to the same values.
TEST_CASE("every plugin binds with its defaults, and again with what it then says") {
  registries().each([](const auto& registry) {
    for (const auto& entry : registry.entries()) {
      const std::string section = registry.kind() + "." + entry.name;
      CAPTURE(section);
      Diagnostics diagnostics;
      const auto bound = entry.bind(Config(), section, diagnostics, &registry);
      std::string text = "[" + section + "]\n";
      for (const auto& [name, value] : bound.values) text += name + " = " + value + "\n";
      const auto again =
          entry.bind(Config::parse(text, "a.ini", diagnostics), section, diagnostics, &registry);
      CHECK(diagnostics.empty());
      CHECK(again.values == bound.values);
    }
  });
}

// Models and trainers may need a library that this build lacks; everything else is made.
TEST_CASE("every part can be made with its defaults") {
  const auto made = [](const auto& registry) {
    for (const auto& entry : registry.entries()) {
      CAPTURE(registry.kind() + "." + entry.name);
      Diagnostics diagnostics;
      CHECK(entry.bind(Config(), "", diagnostics, &registry).make() != nullptr);
    }
  };
  made(registries().frontiers);
  made(registries().drafters);
  made(registries().verifiers);
  made(registries().acceptance);
  made(registries().routers);
  made(registries().estimators);
  made(registries().unmaskers);
  made(registries().tasks);
}

// Whether a part asks the laws of reverse steps: its tokens are vectors.
template <class Interface>
bool of_vectors(const Registry<Interface>& registry, const std::string& name) {
  if constexpr (!std::is_base_of_v<Part, Interface>)
    return false;
  else {
    Diagnostics diagnostics;
    const std::vector<Form> asked =
        registry.find(name)->bind(Config(), "", diagnostics, &registry).make()->asks();
    return std::count(asked.begin(), asked.end(), Form::reverse) > 0;
  }
}

// Decodes five positions of a toy model, the first of them given, with one part chosen and defaults
// for the rest.
struct Decoded {
  std::vector<Token> tokens;
  std::string text;  // The text, with what vectors hold.
  SampleRow row;

  Decoded(const std::string& kind, const std::string& name, std::uint64_t seed, bool vectors) {
    Diagnostics diagnostics;
    const Config config = Config::parse(
        std::string(vectors ? "model = linear-gaussian\nmodel.draft = linear-gaussian\n"
                            : "model = table\nmodel.draft = table\n") +
            "task = positions\n" + (vectors && kind != "drafter" ? "drafter = diffusion\n" : "") +
            (vectors && kind != "verifier" ? "verifier = density\n" : "") +
            (kind == "estimator" ? "" : "estimator = entropy\n") + kind + " = " + name +
            "\n[task.positions]\nprompt = 0:1\n[decode]\ndraft_length = 3\n",
        "a.ini", diagnostics);
    const Composition arm = compose(config, registries(), diagnostics);
    diagnostics.raise();
    Loaded loaded;
    const Models models = load_models(arm, arm.run.machine, loaded);
    const auto task = arm.task.make();
    task->load(nullptr);
    SampledChance chance(seed);
    Decoder decoder(arm, models, task->prompt(0), {chance, 1});
    row = drive(models, decoder, decoder.decode());
    tokens = decoder.canvas().tokens();
    text = decoder.canvas().key();
  }
};

template <class Interface>
void check_decodes(const Registry<Interface>& registry) {
  for (const std::string& name : registry.names()) {
    CAPTURE(registry.kind() + " = " + name);
    const bool vectors = of_vectors(registry, name);
    if constexpr (std::is_same_v<Interface, Unmasker>) {
      Diagnostics none;
      const auto part = registry.find(name)->bind(Config(), "", none, &registry).make();
      if (part->takes_back() || part->shows())
        continue;  // That needs another frontier, or another model: see decoding.cc.
    }
    std::set<std::string> outcomes;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Decoded first(registry.kind(), name, seed, vectors),
          again(registry.kind(), name, seed, vectors);
      CHECK(first.text == again.text);  // The text is a function of the seed and nothing else.
      CHECK(first.tokens[0] == 1);      // The prompt stands.
      for (const Token token : first.tokens) CHECK(token != kNoToken);
      CHECK(first.row.generated == 4);
      CHECK(first.row.counts.nfe() > 0);
      int committed = 0;
      for (const StepRow& step : first.row.steps) {
        CHECK(step.committed > 0);  // Every step gets on.
        CHECK(static_cast<int>(step.tokens.size()) == step.committed);
        committed += step.committed;
      }
      CHECK(committed == 4);
      outcomes.insert(first.text);
    }
    CHECK(outcomes.size() > 1);
  }
}

TEST_CASE("every part of the loop decodes the whole canvas, and the same again at the same seed") {
  check_decodes(registries().frontiers);
  check_decodes(registries().drafters);
  check_decodes(registries().verifiers);
  check_decodes(registries().acceptance);
  check_decodes(registries().routers);
  check_decodes(registries().estimators);
  check_decodes(registries().unmaskers);
}

}  // namespace
}  // namespace draftlab
