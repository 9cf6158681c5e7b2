// How plugins are found: an explicit list in the tree (plugins/builtin.h), or a shared library with
// an exported entry point.
#pragma once

#include <string>

#include "core/config/registry.h"
#include "core/config/section.h"

namespace draftlab {

class Trainer;

// One registry a kind. Made in main, passed by reference.
struct Registries {
  Registry<Model> models{"model"};
  Registry<Frontier> frontiers{"frontier"};
  Registry<Drafter> drafters{"drafter"};
  Registry<Verifier> verifiers{"verifier"};
  Registry<Acceptance> acceptance{"acceptance"};
  Registry<Router> routers{"router"};
  Registry<Estimator> estimators{"estimator"};
  Registry<Unmasker> unmaskers{"unmasker"};
  Registry<Task> tasks{"task"};
  Registry<Trainer> trainers{"trainer"};
  Sections sections;

  // Calls visit(registry) for each kind of plugin, in the order above.
  template <class Visit>
  void each(Visit visit) {
    visit(models);
    visit(frontiers);
    visit(drafters);
    visit(verifiers);
    visit(acceptance);
    visit(routers);
    visit(estimators);
    visit(unmaskers);
    visit(tasks);
    visit(trainers);
  }
  template <class Visit>
  void each(Visit visit) const {
    visit(models);
    visit(frontiers);
    visit(drafters);
    visit(verifiers);
    visit(acceptance);
    visit(routers);
    visit(estimators);
    visit(unmaskers);
    visit(tasks);
    visit(trainers);
  }
};

// Interface version, compiler and build type: an out-of-tree plugin must have been built with the
// same.
#define DRAFTLAB_INTERFACE "draftlab-plugin-1"
#ifdef NDEBUG
#define DRAFTLAB_ABI DRAFTLAB_INTERFACE "/g++-" __VERSION__ "/release"
#else
#define DRAFTLAB_ABI DRAFTLAB_INTERFACE "/g++-" __VERSION__ "/debug"
#endif

// Loads a shared library and lets it register; it stays loaded. ConfigError naming both tags when
// the ABI differs.
void load_plugin(const std::string& path, Registries& registries);

// A function exported by a module that lies beside the program (torch models): loaded on first use,
// so that commands which decode nothing never pay for it. ConfigError when the module was not
// built.
void* module_function(const std::string& module, const std::string& function);

}  // namespace draftlab

// In the tree: KIND and NAME stand in plugins/builtin.h, and the file is NAME.cc below the folder
// of its kind.
#define DRAFTLAB_PLUGIN(kind, name)                                         \
  static void add_##kind##_##name(draftlab::Registries& registries);        \
  void register_##kind##_##name(draftlab::Registries& registries);          \
  void register_##kind##_##name(draftlab::Registries& registries) {         \
    registries.each([](auto& registry) { registry.set_source(__FILE__); }); \
    add_##kind##_##name(registries);                                        \
  }                                                                         \
  static void add_##kind##_##name([[maybe_unused]] draftlab::Registries& registries)

// Out of tree, once a library.
#define DRAFTLAB_SHARED_PLUGIN()                                                       \
  extern "C" __attribute__((visibility("default"))) const char* draftlab_plugin_abi(); \
  extern "C" __attribute__((visibility("default"))) void draftlab_plugin_register(     \
      draftlab::Registries& registries);                                               \
  const char* draftlab_plugin_abi() { return DRAFTLAB_ABI; }                           \
  void draftlab_plugin_register([[maybe_unused]] draftlab::Registries& registries)
