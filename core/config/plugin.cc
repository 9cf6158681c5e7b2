#include "core/config/plugin.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/base/author.h"
#include "core/base/crash.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

// Libraries are never closed: what they registered points into them.
void* open_library(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

std::string last_error() {
  const char* const message = dlerror();
  return message ? message : "unknown reason";
}

// A thread of OpenMP that waits spins for milliseconds first, which takes the processor from those
// that it waits for where other programs run beside. So it sleeps at once, unless the user has said
// how to wait. OpenMP reads this when the module is loaded.
void let_threads_sleep() {
  if (!std::getenv("GOMP_SPINCOUNT")) ::setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);
}

// Returns the folders of the program and of the core library.
std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path());
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&last_error), &info) && info.dli_fname) {
    const fs::path core = fs::absolute(info.dli_fname, error).parent_path();
    if (!error && (folders.empty() || folders[0] != core)) folders.push_back(core);
  }
  return folders;
}

using Enter = void (*)(Registries&);

const char* tag_of(void* abi) { return reinterpret_cast<const char* (*)()>(abi)(); }
bool is_of_this_program(void* abi) { return std::strcmp(tag_of(abi), DRAFTLAB_ABI) == 0; }

// Says how a library with another tag is made one of this program.
std::string remedy(std::string_view tag) {
  const std::string_view own = DRAFTLAB_ABI;
  if (tag.substr(0, tag.rfind('/')) != own.substr(0, own.rfind('/')))
    return "rebuild it with the compiler and the headers of this program";
  return own.ends_with("/release") ? "rebuild it with -DNDEBUG" : "rebuild it without -DNDEBUG";
}

bool is_elf(const std::string& path) {
  char start[4] = {};
  return std::ifstream(path, std::ios::binary).read(start, 4) && std::memcmp(start,
                                                                             "\x7f"
                                                                             "ELF",
                                                                             4) == 0;
}

// Returns how many parts and sections there are.
std::size_t registered(Registries& registries) {
  std::size_t count = registries.sections.all().size();
  registries.each_registry([&](const auto& registry) { count += registry.entries().size(); });
  return count;
}

// Blames a part of a library whose options cannot be declared.
void check_options(const NamedPlugin& plugin, Registries& registries) {
  registries.each_registry([&](const auto& registry) {
    for (const auto& entry : registry.entries()) {
      if (entry.plugin != plugin.path) continue;
      OptionSet set;
      try {
        entry.with_options(set, [] {});
      } catch (const Fault& fault) {
        throw Fault("{} '{}': {}", registry.kind(), entry.name, fault.what());
      }
    }
  });
}

// Loads a library, and lets it register its plugins, in a child of this process: a file that is cut
// off, or one built against other headers, ends the child and not this process.
void try_in_child(const NamedPlugin& plugin, const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      Registries registries;
      void* const library = open_library(path);
      const auto abi = library ? dlsym(library, "draftlab_plugin_abi") : nullptr;
      const auto enter = library ? dlsym(library, "draftlab_plugin_register") : nullptr;
      if (abi && enter && is_of_this_program(abi)) reinterpret_cast<Enter>(enter)(registries);
    } catch (...) {
      // The parent meets it as well, and says what it is.
    }
    ::_exit(0);
  }
  int status = 0;
  if (child > 0)
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFSIGNALED(status))
    throw ConfigError("{} ends its process when it is loaded ({}); is the file whole?", plugin.said,
                      ::strsignal(WTERMSIG(status)));
}

// Calls a library's own function. What it throws names it.
void enter_library(const NamedPlugin& plugin, Enter enter, Registries& registries) {
  const std::size_t before = registered(registries);
  try {
    enter(registries);
    check_options(plugin, registries);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw ConfigError("{} cannot register its plugins: {}", plugin.said, error.what());
  } catch (...) {
    throw ConfigError("{} cannot register its plugins: it throws what is no exception",
                      plugin.said);
  }
  if (registered(registries) == before)
    throw ConfigError("{} registers no part: its DRAFTLAB_SHARED_PLUGIN() adds none to registries",
                      plugin.said);
}

}  // namespace

void register_file(const NamedPlugin& plugin, PluginFile file, Registries& registries,
                   const std::function<void()>& enter) {
  const auto shared = std::make_shared<const PluginFile>(std::move(file));
  const auto add_for = [&](const std::string& name, const std::shared_ptr<const PluginFile>& of) {
    registries.each_registry(
        [&](auto& registry) { registry.set_plugin(name), registry.set_file(of); });
  };
  add_for(plugin.path, shared);
  try {
    enter();
  } catch (const Fault& fault) {
    throw PartFault("{}: {}", plugin.said, fault.what());
  }
  add_for("", nullptr);
  registries.files.push_back(shared);
}

void load_plugin(const NamedPlugin& plugin, Registries& registries) {
  const PluginFile file = read_plugin(plugin);
  if (!is_elf(file.path))
    throw ConfigError(
        "{} is neither a shared library nor a Python file; docs/PLUGINS.md has the command that "
        "compiles a file of C++",
        plugin.said);
  // The path is absolute; if it had no slash, dlopen would search the system's folders.
  try_in_child(plugin, file.path);
  void* const library = open_library(file.path);
  if (!library) throw ConfigError("{} cannot be loaded: {}", plugin.said, last_error());
  void* const abi = dlsym(library, "draftlab_plugin_abi");
  const auto enter = reinterpret_cast<Enter>(dlsym(library, "draftlab_plugin_register"));
  if (!abi || !enter) {
    throw ConfigError("{} is no draftlab plugin: it has no DRAFTLAB_SHARED_PLUGIN() {{ ... }}",
                      plugin.said);
  }
  if (!is_of_this_program(abi)) {
    throw ConfigError("{} was built for '{}', this program is '{}'; {}", plugin.said, tag_of(abi),
                      DRAFTLAB_ABI, remedy(tag_of(abi)));
  }
  name_crashes(reinterpret_cast<const void*>(enter), plugin.said);
  registries.each_registry([&](auto& registry) { registry.set_source(plugin.path); });
  register_file(plugin, file, registries, [&] { enter_library(plugin, enter, registries); });
  registries.each_registry([](auto& registry) { registry.set_source(""); });
}

void* module_function(const std::string& module, const std::string& function) {
  const std::string name = "lib" + module + ".so";
  for (const fs::path& folder : module_folders()) {
    if (!fs::exists(folder / name)) continue;
    // Debian's torch and sentencepiece each bring a protobuf of their own, so each has a module,
    // and neither is linked into the program: local scopes keep them apart. (RTLD_DEEPBIND would do
    // so too, but then a module's std::cout is not the program's.)
    let_threads_sleep();
    void* const library = open_library((folder / name).string());
    if (!library)
      throw ConfigError("{} cannot be loaded: {}", (folder / name).string(), last_error());
    void* const found = dlsym(library, function.c_str());
    if (!found)
      throw ConfigError("{} has no function {}; rebuild it", (folder / name).string(), function);
    return found;
  }
  throw ConfigError(
      "{} is not beside the program: it was not built (-DDRAFTLAB_WITH_TORCH=ON builds the torch "
      "models)",
      name);
}

}  // namespace draftlab
