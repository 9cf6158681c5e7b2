// The plugins of configs/quickstart.ini, which are those of the first program
// (experiments/first.cc). All of them are in the list of builtin.h, too.
#pragma once

#define DRAFTLAB_FIRST_PLUGINS(X) \
  X(model, any_subset)            \
  X(frontier, lattice)            \
  X(drafter, stepwise)            \
  X(drafter, self)                \
  X(drafter, ngram)               \
  X(verifier, chain)              \
  X(acceptance, speculative)      \
  X(router, always)               \
  X(unmasker, one)                \
  X(task, infill)

namespace draftlab {

struct Registries;

}  // namespace draftlab

#define DRAFTLAB_DECLARE_PLUGIN(kind, name) \
  void register_##kind##_##name(draftlab::Registries& registries);
DRAFTLAB_FIRST_PLUGINS(DRAFTLAB_DECLARE_PLUGIN)
#undef DRAFTLAB_DECLARE_PLUGIN
