#include "plugins/remote/python_plugin.h"

#include <cstdlib>
#include <filesystem>

#include "plugins/remote/remote_parts.h"

namespace draftlab {
namespace {

using namespace remote;

std::string& provenance_so_far() {
  static std::string text;
  return text;
}

template <class Interface>
void add(Registry<Interface>& registry, const std::shared_ptr<Peer>& peer, const PartSpec& spec,
         std::unique_ptr<Interface> (*make)(Instance)) {
  const auto shared = std::make_shared<const PartSpec>(spec);
  registry.add_made(
      spec.name, spec.summary, spec.place, spec.forms, [shared] { return RemoteOptions(*shared); },
      [shared, peer, make](const RemoteOptions& options) {
        return make(std::make_unique<Remote>(peer, shared, options.values()));
      });
}

void add(Registries& registries, const std::shared_ptr<Peer>& peer, const PartSpec& spec) {
  if (spec.kind == "router") return add(registries.routers, peer, spec, make_router);
  if (spec.kind == "estimator") return add(registries.estimators, peer, spec, make_estimator);
  if (spec.kind == "acceptance") return add(registries.acceptance, peer, spec, make_acceptance);
  if (spec.kind == "unmasker") return add(registries.unmaskers, peer, spec, make_unmasker);
  if (spec.kind == "drafter") return add(registries.drafters, peer, spec, make_drafter);
  if (spec.kind == "verifier") return add(registries.verifiers, peer, spec, make_verifier);
  if (spec.kind == "frontier") return add(registries.frontiers, peer, spec, make_frontier);
  if (spec.kind == "model") return add(registries.models, peer, spec, make_model);
  if (spec.kind == "task") return add(registries.tasks, peer, spec, make_task);
  throw ConfigError("{} has a part of the unknown kind '{}'", peer->name(), spec.kind);
}

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value && *value ? value : otherwise;
}

}  // namespace

void complete(PythonOptions& options) {
  if (options.interpreter.empty()) options.interpreter = variable("DRAFTLAB_PYTHON", "python3");
  if (options.timeout == 0)
    options.timeout = std::atof(variable("DRAFTLAB_PYTHON_TIMEOUT", "60").c_str());
  if (!(options.timeout >= 0.01 && options.timeout <= 1e6))
    throw UsageError("--python-timeout takes seconds, from 0.01 on");
  ::setenv("DRAFTLAB_PYTHON", options.interpreter.c_str(), 1);
  ::setenv("DRAFTLAB_PYTHON_TIMEOUT", std::to_string(options.timeout).c_str(), 1);
}

bool is_remote_plugin(const std::string& plugin) {
  return plugin.ends_with(".py") || plugin.starts_with("unix:") || plugin.starts_with("tcp:");
}

void load_remote_plugin(const std::string& plugin, const PythonOptions& options,
                        Registries& registries) {
  PeerOptions its;
  its.timeout = options.timeout, its.twice = options.twice;
  std::function<Connected()> connect;
  if (plugin.ends_with(".py")) {
    if (!std::filesystem::exists(plugin)) throw ConfigError("--plugin {} does not exist", plugin);
    connect = [python = options.interpreter, plugin] { return start_python(python, plugin); };
  } else {
    if (options.from_files)
      throw UsageError("a sweep freezes the files of its parts, and --plugin {} is none", plugin);
    its.secret = secret_in(options.secret, "--plugin-secret");
    connect = [plugin] { return connect_to(plugin); };
  }
  const auto peer = std::make_shared<Peer>(plugin, connect, its);
  if (peer->parts().empty())
    throw ConfigError(
        "--plugin {} has no part: no class in it is decorated with @draftlab.router or another "
        "kind",
        plugin);
  registries.each([&](auto& registry) { registry.set_plugin(plugin); });
  for (const PartSpec& spec : peer->parts()) {
    try {
      add(registries, peer, spec);
    } catch (const Nonsense& error) {
      throw ConfigError("{} announced {}", plugin, error.what());
    } catch (const Fault& fault) {
      throw PartFault("--plugin {}: {}", plugin, fault.what());
    }
  }
  registries.each([](auto& registry) { registry.set_plugin(""); });
  std::string& text = provenance_so_far();
  text += (text.empty() ? "" : "; ") + peer->runtime();
}

std::string remote_provenance() { return provenance_so_far(); }

}  // namespace draftlab
