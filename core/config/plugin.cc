#include "core/config/plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/base/author.h"

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

}  // namespace

void load_plugin(const std::string& path, Registries& registries) {
  // If the path had no slash, dlopen would search the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  if (!fs::exists(file)) throw ConfigError("--plugin {} does not exist", path);
  void* const library = open_library(file);
  if (!library) throw ConfigError("--plugin {} cannot be loaded: {}", path, last_error());
  const auto abi = reinterpret_cast<const char* (*)()>(dlsym(library, "draftlab_plugin_abi"));
  const auto enter =
      reinterpret_cast<void (*)(Registries&)>(dlsym(library, "draftlab_plugin_register"));
  if (!abi || !enter) {
    throw ConfigError(
        "--plugin {} is no draftlab plugin: it has no DRAFTLAB_SHARED_PLUGIN() {{ ... }}", path);
  }
  if (std::strcmp(abi(), DRAFTLAB_ABI) != 0) {
    throw ConfigError("--plugin {} was built for '{}', this program is '{}'; rebuild it", path,
                      abi(), DRAFTLAB_ABI);
  }
  const auto add_for = [&](const std::string& plugin) {
    registries.each(
        [&](auto& registry) { registry.set_source(plugin), registry.set_plugin(plugin); });
  };
  add_for(path);
  try {
    enter(registries);
  } catch (const Fault& fault) {
    throw PartFault("--plugin {}: {}", path, fault.what());
  }
  add_for("");
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
