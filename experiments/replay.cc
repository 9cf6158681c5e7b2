// `draftlab replay FILE...` asks other estimators and routers about stored traces.
#include <algorithm>
#include <iostream>

#include "analysis/replay/acceptance_limit.h"
#include "analysis/replay/replay.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "experiments/commands.h"

namespace draftlab {
namespace {

struct ReplayFlags {
  bool limits = false, reliability = false, logged = false;
  int vocabulary = 0;
  TableForm format = TableForm::text;
  void declare(OptionSet& set) {
    set.add("limits", &limits)
        .help(
            "Prints instead the step reduction that self-drafting could reach, from a stepwise "
            "trace (SSD, Table 2).");
    set.add("reliability", &reliability)
        .help(
            "Prints each estimator's probabilities beside the shares of drafts that were "
            "accepted.");
    set.add("logged", &logged)
        .help("Shows of the estimators what the trace recorded, and asks none again.");
    set.add("format", &format).help("The form of the tables.");
    set.add("vocabulary", &vocabulary)
        .in(0, 1e9)
        .help("Tokens that the model knows; 0 for what the trace says.");
  }
};

// Says whether a key is "estimator" or "estimator.NAME", of which the value is a plugin, and not
// "estimator.NAME.option".
bool names_plugin(const std::string& key, const std::string& kind) {
  return key == kind ||
         (key.starts_with(kind + ".") && key.find('.', kind.size() + 1) == std::string::npos);
}

template <class Interface>
Bound<Interface> bind(const Registry<Interface>& registry, const Config::Entry& entry,
                      const Config& config, Diagnostics& diagnostics) {
  const auto* const plugin = registry.find(entry.value);
  if (!plugin) {
    const std::string near = nearest(entry.value, registry.names());
    throw ConfigError("{}: unknown {} '{}'{}", entry.where, registry.kind(), entry.value,
                      near.empty() ? "; there are: " + joined(registry.names())
                                   : "; did you mean '" + near + "'?");
  }
  return plugin->bind(config,
                      entry.key == registry.kind() ? entry.key + "." + entry.value : entry.key,
                      diagnostics);
}

int replay_traces(const ReplayFlags& flags, const CommandLine& line, const Registries& registries) {
  std::vector<std::string> traces, configs;
  for (const std::string& path : line.paths)
    (path.ends_with(".ini") ? configs : traces).push_back(path);
  if (traces.empty())
    throw UsageError(
        "draftlab replay takes traces, and configs (*.ini) whose estimators and routers are asked");
  const Frame frame(traces);
  if (flags.limits) {
    std::cout << acceptance_limit_tables(acceptance_limits(frame, {1, 2, 3, 4, 5, 6, 7, 8}),
                                         flags.format);
    return 0;
  }

  // Configs override the run's own estimator and router, and flags override configs.
  Diagnostics diagnostics;
  Config config;
  const auto take = [&](const Config& from) {
    for (const Config::Entry* const at : from.entries()) {
      const Config::Entry& entry = *at;
      if (entry.key.starts_with("estimator") || entry.key.starts_with("router")) config.set(entry);
    }
  };
  take(Config::parse(frame.arms()[0].run.config, traces[0], diagnostics));
  for (const std::string& path : configs) take(Config::read(path, {}, diagnostics));
  for (const auto& [key, value] : line.overrides) {
    if (!key.starts_with("estimator") && !key.starts_with("router"))
      throw UsageError("--{} is neither an estimator nor a router, and replay asks nothing else",
                       key);
    config.set({key, value, "--" + key});
  }
  diagnostics.raise();

  ReplayRequest request;
  request.vocabulary = flags.vocabulary;
  std::optional<Bound<Estimator>> own;
  for (const Config::Entry* const at : config.entries()) {
    const Config::Entry& entry = *at;
    if (!names_plugin(entry.key, "estimator") || entry.value == "none") continue;
    Bound<Estimator> bound = bind(registries.estimators, entry, config, diagnostics);
    if (entry.key == "estimator") own = bound;
    if (flags.logged) continue;
    request.estimators.emplace_back(
        entry.key == "estimator" ? entry.value : entry.key.substr(std::string("estimator.").size()),
        std::move(bound));
  }
  for (const Config::Entry* const at : config.entries()) {
    const Config::Entry& entry = *at;
    const bool shown_anyhow =
        std::find(kFixedRules.begin(), kFixedRules.end(), entry.value) != kFixedRules.end();
    if (!names_plugin(entry.key, "router") || shown_anyhow) continue;
    Bound<Router> bound = bind(registries.routers, entry, config, diagnostics);
    request.routers.push_back(
        {entry.key == "router" ? entry.value : entry.key.substr(std::string("router.").size()),
         std::move(bound), own});
  }
  diagnostics.raise();
  std::cout << replay_tables(replay(frame, request), flags.reliability, flags.format);
  return 0;
}

}  // namespace

Command replay_command() {
  return {.name = "replay",
          .arguments = "FILE...",
          .summary = "other estimators and routers on stored traces; configs (*.ini) may name them",
          .most = kAnyNumber,
          .takes_config = true,
          .flags = with_flags(replay_traces)};
}

}  // namespace draftlab
