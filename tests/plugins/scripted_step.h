// A step of the loop by hand: a canvas, a window, and the answers that a model would give.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "core/composition.h"
#include "plugins/builtin.h"

namespace draftlab::testing {

// The part of that name with the options of a config's section.
template <class Interface>
std::unique_ptr<Interface> part(const Registry<Interface> Registries::*kind, const std::string& name, const std::string& options = "") {
  Registries registries;
  register_builtin_plugins(registries);
  const Registry<Interface>& registry = registries.*kind;
  const std::string section = registry.kind() + "." + name;
  Faults faults;
  auto bound = registry.find(name)->bind(Config::parse("[" + section + "]\n" + options, "test.ini", faults), section, faults, &registry);
  faults.raise();
  return bound.make();
}

inline Distribution of(std::initializer_list<double> weights) {
  Eigen::ArrayXd array(static_cast<Eigen::Index>(weights.size()));
  Eigen::Index i = 0;
  for (const double weight : weights) array[i++] = weight;
  return Distribution(std::move(array));
}

struct ScriptedStep {
  Canvas canvas;
  Window window;
  Blocks blocks;
  DecodeOptions decode;
  std::optional<Carry> carry;
  SampledChance chance{1};
  Mailbox mailbox;
  Sequence target{canvas};
  int vocabulary = 3;
  std::optional<Question> asked;  // what the last coroutine asked

  explicit ScriptedStep(Canvas its) : canvas(std::move(its)) {}
  Step step() { return {canvas, window, blocks, decode, carry, chance, mailbox, 0, 0, vocabulary, target}; }

  // Runs a coroutine; whatever position it asks, at whatever node, is answered by `answers`.
  template <class T> T run(Asking<T> asking, const std::map<std::int32_t, Distribution>& answers) {
    asked.reset();
    asking.start();
    while (!asking.done()) {
      asked = *mailbox.question;
      for (const Ask& ask : asked->asks) for (const std::int32_t position : ask.positions) mailbox.answer.add(ask.node, position, answers.at(position));
      mailbox.waiting.resume();
    }
    return asking.take();
  }
};

}  // namespace draftlab::testing
