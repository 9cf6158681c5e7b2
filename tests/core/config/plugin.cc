#include "core/config/plugin.h"

#include <doctest/doctest.h>

#include "core/base/author.h"
#include "core/config/composition.h"

namespace draftlab {
namespace {

std::string library(const std::string& name) {
  return std::string(DRAFTLAB_BINARY_DIR) + "/lib" + name + ".so";
}

TEST_CASE("a plugin out of tree is registered, described and made like any other") {
  Registries registries;
  load_plugin(plugin_flag(library("test_verifies_even_steps")), registries);
  const auto* const entry = registries.routers.find("even-steps");
  REQUIRE(entry);
  CHECK(entry->source == library("test_verifies_even_steps"));
  Diagnostics diagnostics;
  const Config config = Config::parse("[router.even-steps]\nevery = 3\n", "a.ini", diagnostics);
  const auto router = entry->bind(config, "router.even-steps", diagnostics).make();
  CHECK(diagnostics.empty());
  StepView view;
  view.step = 3;
  CHECK(router->decide(view).verify);
  view.step = 4;
  CHECK_FALSE(router->decide(view).verify);
  CHECK_THROWS_AS(load_plugin(plugin_flag(library("test_verifies_even_steps")), registries),
                  PartFault);  // The name was registered before.
}

TEST_CASE("a plugin of another interface is refused, both tags named") {
  Registries registries;
  const std::string path = library("test_old_interface");
  CHECK_THROWS_WITH_AS(
      load_plugin(plugin_flag(path), registries),
      ("--plugin " + path +
       " was built for 'draftlab-plugin-0/old', this program is '" DRAFTLAB_ABI "'; "
       "rebuild it with the compiler and the headers of this program")
          .c_str(),
      ConfigError);
}

TEST_CASE("what is no plugin is refused in one sentence") {
  Registries registries;
  const std::string path = library("test_no_plugin");
  CHECK_THROWS_WITH_AS(
      load_plugin(plugin_flag(path), registries),
      ("--plugin " + path + " is no draftlab plugin: it has no DRAFTLAB_SHARED_PLUGIN() { ... }")
          .c_str(),
      ConfigError);
  CHECK_THROWS_WITH_AS(load_plugin(plugin_flag("/no/such.so"), registries),
                       "--plugin /no/such.so does not exist", ConfigError);
  const std::string source = std::string(DRAFTLAB_SOURCE_DIR) + "/examples/plugins/router.cc";
  CHECK_THROWS_WITH_AS(load_plugin(plugin_flag(source), registries),
                       ("--plugin " + source +
                        " is neither a shared library nor a Python file; docs/PLUGINS.md has the "
                        "command that compiles a file of C++")
                           .c_str(),
                       ConfigError);
  const std::string nothing = library("test_registers_nothing");
  CHECK_THROWS_WITH_AS(load_plugin(plugin_flag(nothing), registries),
                       ("--plugin " + nothing +
                        " registers no part: its DRAFTLAB_SHARED_PLUGIN() adds none to registries")
                           .c_str(),
                       ConfigError);
}

TEST_CASE("a file that is misspelt has a suggestion") {
  Registries registries;
  CHECK_THROWS_WITH_AS(load_plugin(plugin_flag(library("test_no_plugins")), registries),
                       ("--plugin " + library("test_no_plugins") +
                        " does not exist; did you mean '" + library("test_no_plugin") + "'?")
                           .c_str(),
                       ConfigError);
}

TEST_CASE("a part whose options cannot be declared is named when its library is loaded") {
  Registries registries;
  const std::string path = library("test_option_twice");
  CHECK_THROWS_WITH_AS(
      load_plugin(plugin_flag(path), registries),
      ("--plugin " + path + ": router 'twice': option 'least' is declared twice").c_str(),
      PartFault);
}

TEST_CASE("a library that cannot register its plugins is refused by name") {
  Registries registries;
  const std::string path = library("test_throws_at_once");
  CHECK_THROWS_WITH_AS(
      load_plugin(plugin_flag(path), registries),
      ("--plugin " + path + " cannot register its plugins: it throws what is no exception").c_str(),
      ConfigError);
}

TEST_CASE("modules are looked for beside the program") {
  CHECK(module_function("test_no_plugin", "answer") != nullptr);
  CHECK_THROWS_AS(module_function("test_no_plugin", "question"), ConfigError);
  CHECK_THROWS_AS(module_function("no_such_module", "answer"), ConfigError);
}

struct Silent final : Router {
  Route decide(const StepView&) const override { return {}; }
};

TEST_CASE("a name is registered once") {
  Registries registries;
  registries.routers.set_source("here.cc");
  registries.routers.add<Silent>("silent", "says nothing");
  CHECK_THROWS_WITH_AS(registries.routers.add<Silent>("silent", "again"),
                       "router 'silent' is registered twice, by here.cc and by here.cc", Fault);
}

}  // namespace
}  // namespace draftlab
