#include "plugins/remote/python_plugin.h"

#include <cstdlib>

#include "core/base/sha256.h"
#include "plugins/remote/interpreter.h"
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
      {spec.name, spec.summary, spec.place, spec.forms},
      [shared] { return RemoteOptions(*shared); },
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
  if (!options.interpreter.empty()) {
    if (!is_program(options.interpreter))
      throw ConfigError(
          "--python {} names no program that could run Python files{}", options.interpreter,
          options.interpreter.ends_with(".py") ? "; --plugin loads a file of parts" : "");
    ::setenv("DRAFTLAB_PYTHON", options.interpreter.c_str(), 1);
  }
  if (options.timeout == 0)
    options.timeout = std::atof(variable("DRAFTLAB_PYTHON_TIMEOUT", "60").c_str());
  if (!(options.timeout >= 0.01 && options.timeout <= 1e6))
    throw UsageError("--python-timeout takes seconds, from 0.01 on");
  if (options.step_timeout == 0)
    options.step_timeout = std::atof(
        variable("DRAFTLAB_PYTHON_STEP_TIMEOUT", std::to_string(10 * options.timeout).c_str())
            .c_str());
  if (!(options.step_timeout >= 0.01 && options.step_timeout <= 1e7))
    throw UsageError("--python-step-timeout takes seconds, from 0.01 on");
  ::setenv("DRAFTLAB_PYTHON_STEP_TIMEOUT", std::to_string(options.step_timeout).c_str(), 1);
  ::setenv("DRAFTLAB_PYTHON_TIMEOUT", std::to_string(options.timeout).c_str(), 1);
}

bool is_remote_plugin(const std::string& path) { return path.ends_with(".py") || is_address(path); }

void load_remote_plugin(const NamedPlugin& plugin, const PythonOptions& options,
                        Registries& registries) {
  PeerOptions its;
  its.timeout = options.timeout, its.step_timeout = options.step_timeout;
  its.twice = options.twice;
  PluginFile file{plugin.name, plugin.path, ""};
  std::function<Connected()> connect;
  if (is_address(plugin.path)) {
    if (options.from_files)
      throw UsageError("a sweep freezes the files of its parts, and {} is none", plugin.said);
    its.secret = secret_in(options.secret, "--plugin-secret");
    connect = [address = plugin.path] { return connect_to(address); };
  } else {
    file = read_plugin(plugin);
    connect = [python = interpreter({"numpy", "msgpack"}), path = file.path,
               same = NamedPlugin{plugin.name, file.path, file.digest, plugin.said}] {
      read_plugin(same);  // A process that is started again has the parts that the first had.
      return start_python(python, path);
    };
  }
  const auto peer = std::make_shared<Peer>(plugin.path, connect, its);
  if (is_address(plugin.path)) {
    file.digest = sha256(peer->runtime());
    check_digest(plugin, file.digest);
  }
  if (peer->parts().empty())
    throw ConfigError(
        "{} has no part: no class in it is decorated with @draftlab.router or another kind",
        plugin.said);
  register_file(plugin, file, registries, [&] {
    for (const PartSpec& spec : peer->parts()) {
      try {
        add(registries, peer, spec);
      } catch (const MalformedMessage& error) {
        throw ConfigError("{} announced {}", plugin.path, error.what());
      }
    }
  });
  std::string& text = provenance_so_far();
  text += (text.empty() ? "" : "; ") + peer->runtime();
}

bool has_remote_parts() { return Peer::any(); }

std::string remote_provenance() { return provenance_so_far(); }

}  // namespace draftlab
