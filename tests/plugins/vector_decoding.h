// Decoders of vectors, whole, on the linear-Gaussian toy.
#pragma once

#include <functional>
#include <string>

#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"

namespace draftlab::testing {

inline const Registries& all_plugins() {
  static const Registries all = [] {
    Registries made;
    register_builtin_plugins(made);
    return made;
  }();
  return all;
}

inline constexpr const char* kVectors =
    "model = linear-gaussian\nmodel.draft = linear-gaussian\ntask = positions\ndrafter = "
    "diffusion\nverifier = density\nfrontier = left-to-right\n";

// `lines` may beat what kVectors says. ConfigError for what compose refuses.
inline Composition vectors(const std::string& lines,
                           const std::string& task = "length = 4\nprompt = 0:0\n",
                           const Registries& registries = all_plugins()) {
  Diagnostics diagnostics;
  Config config = Config::parse(std::string(kVectors), "test.ini", diagnostics);
  const Config own = Config::parse(lines + "\n[task.positions]\n" + task, "test.ini", diagnostics);
  for (const Config::Entry* const entry : own.entries()) config.set(*entry);
  if (own.find("model.draft") && own.find("model.draft")->value == "none")
    config.erase("model.draft");
  Composition composition = compose(config, registries, diagnostics);
  diagnostics.raise();
  return composition;
}

// Decodes one sequence; `seen` looks on behind every step.
inline SampleRow decode(const Composition& composition, std::uint64_t sequence,
                        const std::function<void(const Decoder&)>& seen = {}) {
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  const auto task = composition.task.make();
  task->load(nullptr);
  const Prompt prompt = task->prompt(0);
  SampledChance chance(1);
  Decoder decoder(composition, models, prompt, {chance, sequence});
  while (drive(models, decoder, decoder.step()))
    if (seen) seen(decoder);
  return decoder.row();
}

}  // namespace draftlab::testing
