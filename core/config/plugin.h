// How plugins are found: in an explicit list (plugins/builtin.h), or in a file that a config or the
// command line names (plugin_file.h), such as a shared library with an exported entry point.
// docs/plugins/cpp.md is the manual of those who write such a library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/plugin_file.h"
#include "core/config/registry.h"
#include "core/config/section.h"

namespace draftlab {

class MetricFamily;
class Trainer;

// All registries, one for each kind of plugin. They are made in main and passed by reference.
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
  // What reports compute of traces (analysis/metrics/metric.h).
  Registry<MetricFamily> metrics{"metric"};
  Sections sections;
  // The files that were loaded, in that order.
  std::vector<std::shared_ptr<const PluginFile>> files;

  // Calls visit(registry) for each kind of plugin that a config names, in the order above.
  template <class Visit>
  void each(Visit visit) {
    each_of(*this, visit);
  }
  template <class Visit>
  void each(Visit visit) const {
    each_of(*this, visit);
  }
  // Does the same for metrics, too, which no config names.
  template <class Visit>
  void each_registry(Visit visit) {
    each_of(*this, visit);
    visit(metrics);
  }

 private:
  template <class Self, class Visit>
  static void each_of(Self& self, Visit& visit) {
    visit(self.models);
    visit(self.frontiers);
    visit(self.drafters);
    visit(self.verifiers);
    visit(self.acceptance);
    visit(self.routers);
    visit(self.estimators);
    visit(self.unmaskers);
    visit(self.tasks);
    visit(self.trainers);
  }
};

// The tag that an out-of-tree plugin must share: the interface version, the compiler and the build
// type.
#define DRAFTLAB_INTERFACE "draftlab-plugin-6"
#ifdef NDEBUG
#define DRAFTLAB_ABI DRAFTLAB_INTERFACE "/g++-" __VERSION__ "/release"
#else
#define DRAFTLAB_ABI DRAFTLAB_INTERFACE "/g++-" __VERSION__ "/debug"
#endif

// Loads a shared library and lets it register its plugins; it stays loaded. Throws ConfigError
// naming both tags when they differ.
void load_plugin(const NamedPlugin& plugin, Registries& registries);

// Calls `enter`, which registers the plugins of a file: they will name it. A Fault of theirs
// becomes a PartFault.
void register_file(const NamedPlugin& plugin, PluginFile file, Registries& registries,
                   const std::function<void()>& enter);

// Returns a function exported by a module that lies beside the program (torch models). The module
// is loaded on first use, so that commands which decode nothing never pay for it. Throws
// ConfigError when the module was not built.
void* module_function(const std::string& module, const std::string& function);

}  // namespace draftlab

// Registers a plugin of this tree. KIND and NAME stand in plugins/builtin.h, and the file is
// NAME.cc below the folder of its kind.
#define DRAFTLAB_PLUGIN(kind, name)                                         \
  static void add_##kind##_##name(draftlab::Registries& registries);        \
  void register_##kind##_##name(draftlab::Registries& registries);          \
  void register_##kind##_##name(draftlab::Registries& registries) {         \
    registries.each([](auto& registry) { registry.set_source(__FILE__); }); \
    add_##kind##_##name(registries);                                        \
  }                                                                         \
  static void add_##kind##_##name([[maybe_unused]] draftlab::Registries& registries)

// Marks a shared library of plugins outside this tree; it stands once in the library.
#define DRAFTLAB_SHARED_PLUGIN()                                                       \
  extern "C" __attribute__((visibility("default"))) const char* draftlab_plugin_abi(); \
  extern "C" __attribute__((visibility("default"))) void draftlab_plugin_register(     \
      draftlab::Registries& registries);                                               \
  const char* draftlab_plugin_abi() { return DRAFTLAB_ABI; }                           \
  void draftlab_plugin_register([[maybe_unused]] draftlab::Registries& registries)
