#include "experiments/replay.h"

#include <algorithm>
#include <iostream>

#include "analysis/replay/acceptance_limit.h"
#include "analysis/replay/replay.h"
#include "core/base/error.h"
#include "core/config/config.h"

namespace draftlab {
namespace {

double positive(const CommandLine& line, const std::string& flag, double otherwise) {
  if (!line.has(flag)) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(line.flag(flag).c_str(), &end);
  if (*end != '\0' || !(value > 0))
    throw UsageError("--" + flag + " " + line.flag(flag) + " must be a number above 0");
  return value;
}

// Says whether a key is "estimator" or "estimator.NAME", of which the value is a plugin, and not
// "estimator.NAME.option".
bool names_plugin(const std::string& key, const std::string& kind) {
  return key == kind ||
         (key.starts_with(kind + ".") && key.find('.', kind.size() + 1) == std::string::npos);
}

template <class Interface>
Bound<Interface> bind(const Registry<Interface>& registry, const Config::Entry& entry,
                      const Config& config, Faults& faults) {
  const auto* const plugin = registry.find(entry.value);
  if (!plugin) {
    const std::string near = nearest(entry.value, registry.names());
    throw ConfigError(entry.where + ": unknown " + registry.kind() + " '" + entry.value + "'" +
                      (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  return plugin->bind(
      config, entry.key == registry.kind() ? entry.key + "." + entry.value : entry.key, faults);
}

}  // namespace

int replay(const CommandLine& line, const Registries& registries) {
  std::vector<std::string> traces, configs;
  for (const std::string& path : line.paths)
    (path.ends_with(".ini") ? configs : traces).push_back(path);
  if (traces.empty())
    throw UsageError(
        "draftlab replay takes traces, and configs (*.ini) whose estimators and routers are asked");
  const Frame frame(traces);
  if (line.has("limits")) {
    std::cout << acceptance_limit_tables(acceptance_limits(frame, {1, 2, 3, 4, 5, 6, 7, 8}));
    return 0;
  }

  // Configs override the run's own estimator and router, and flags override configs.
  Faults faults;
  Config config;
  const auto take = [&](const Config& from) {
    for (const Config::Entry* const at : from.entries()) {
      const Config::Entry& entry = *at;
      if (entry.key.starts_with("estimator") || entry.key.starts_with("router")) config.set(entry);
    }
  };
  take(Config::parse(frame.arms()[0].run.config, traces[0], faults));
  for (const std::string& path : configs) take(Config::read(path, {}, faults));
  for (const auto& [key, value] : line.overrides) {
    if (!key.starts_with("estimator") && !key.starts_with("router"))
      throw UsageError("--" + key +
                       " is neither an estimator nor a router, and replay asks nothing else");
    config.set({key, value, "--" + key});
  }
  faults.raise();

  ReplayRequest request;
  request.verify_cost = positive(line, "verify-cost", 2);
  request.skip_cost = positive(line, "skip-cost", 1);
  request.vocabulary = static_cast<int>(positive(line, "vocabulary", 0.5));
  std::optional<Bound<Estimator>> own;
  for (const Config::Entry* const at : config.entries()) {
    const Config::Entry& entry = *at;
    if (!names_plugin(entry.key, "estimator") || entry.value == "none") continue;
    Bound<Estimator> bound = bind(registries.estimators, entry, config, faults);
    if (entry.key == "estimator") own = bound;
    request.estimators.emplace_back(
        entry.key == "estimator" ? entry.value : entry.key.substr(std::string("estimator.").size()),
        std::move(bound));
  }
  for (const Config::Entry* const at : config.entries()) {
    const Config::Entry& entry = *at;
    // These two are shown anyhow.
    if (!names_plugin(entry.key, "router") || entry.value == "always" || entry.value == "never")
      continue;
    Bound<Router> bound = bind(registries.routers, entry, config, faults);
    request.routers.push_back(
        {entry.key == "router" ? entry.value : entry.key.substr(std::string("router.").size()),
         std::move(bound), own});
  }
  faults.raise();
  std::cout << replay_tables(replay(frame, request), line.has("reliability"));
  return 0;
}

}  // namespace draftlab
