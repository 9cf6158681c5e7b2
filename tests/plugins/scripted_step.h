// A step of the loop by hand: a canvas, a window, and the answers that a model would give.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "core/config/composition.h"
#include "plugins/builtin.h"
#include "tests/core/prob/of.h"

namespace draftlab::testing {

// The part of that name with the options of a config's section.
template <class Interface>
std::unique_ptr<Interface> part(const Registry<Interface> Registries::*kind,
                                const std::string& name, const std::string& options = "") {
  Registries registries;
  register_builtin_plugins(registries);
  const Registry<Interface>& registry = registries.*kind;
  const std::string section = registry.kind() + "." + name;
  Diagnostics diagnostics;
  auto bound = registry.find(name)->bind(
      Config::parse("[" + section + "]\n" + options, "test.ini", diagnostics), section, diagnostics,
      &registry);
  diagnostics.raise();
  return bound.make();
}

struct ScriptedStep {
  Canvas canvas;
  Window window;
  Blocks blocks;
  DecodeOptions decode;
  std::optional<Carry> carry;
  SampledChance chance{1};
  Mailbox mailbox;
  struct Bounded final : Sequence {
    using Sequence::Sequence;
    int deepest = std::numeric_limits<int>::max();
    int horizon() const override { return deepest; }
  } target{canvas};
  std::unique_ptr<Frontier>
      frontier;  // Parts that ask about hypothetical states, with an unmasker, read it.
  std::unique_ptr<Unmasker> unmasker;
  const DraftLength* length = nullptr;
  int vocabulary = 3;
  std::vector<ModelFacts> models;
  std::optional<Question> asked;  // The question that the last coroutine asked.

  explicit ScriptedStep(Canvas its) : canvas(std::move(its)) {}
  Step step() {
    return {.canvas = canvas,
            .window = window,
            .blocks = blocks,
            .decode = decode,
            .carry = carry,
            .chance = chance,
            .mailbox = mailbox,
            .vocabulary = vocabulary,
            .target = target,
            .frontier = frontier.get(),
            .unmasker = unmasker.get(),
            .length = length,
            .models = models};
  }

  // Stepwise decoding by blocks and `unmasker`: what is given to both of them is set before.
  void decodes(const std::string& name, const std::string& options = "") {
    frontier = part(&Registries::frontiers, "blocks");
    unmasker = part(&Registries::unmaskers, name, options);
    frontier->begin(blocks, decode);
    unmasker->begin(blocks, decode);
    if (!frontier->done(canvas)) window = frontier->next(canvas);
  }

  // Runs a coroutine; whatever position it asks, at whatever node, is answered by `answers`, or at
  // each node by its own.
  template <class T>
  T run(Asking<T> asking, const std::map<std::int32_t, Distribution>& answers) {
    return run(std::move(asking), [&](int, std::int32_t position) { return answers.at(position); });
  }
  template <class T>
  T run(Asking<T> asking,
        const std::function<Distribution(int node, std::int32_t position)>& answers) {
    asked.reset();
    asking.start();
    while (!asking.done()) {
      asked = *mailbox.question;
      for (const Ask& ask : asked->asks)
        for (const std::int32_t position : ask.positions)
          mailbox.answer.add(ask.node, position, answers(ask.node, position));
      mailbox.waiting.resume();
    }
    return asking.take();
  }
};

}  // namespace draftlab::testing
