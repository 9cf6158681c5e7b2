#include "analysis/surface/cost_surface.h"

#include <cmath>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/options.h"

namespace draftlab {
namespace {

constexpr double kMostSeconds = 1e9;

// Adds the coefficients of a forward to the options of a section.
void add_forward(OptionSet& set, ForwardSeconds& forward) {
  set.add("cached", &forward.cached).in(0, kMostSeconds);
  set.add("row", &forward.row).in(0, kMostSeconds);
  set.add("fixed", &forward.fixed).in(0, kMostSeconds);
}

// The drafters: every section that is not one of the other three.
std::map<std::string, DraftSeconds> read_drafts(const Config& config, Diagnostics& faults) {
  std::map<std::string, DraftSeconds> drafts;
  for (const Config::Entry* entry : config.entries()) {
    const std::size_t dot = entry->key.find('.');
    const std::string name = entry->key.substr(0, dot);
    if (dot == std::string::npos) faults.add("{}: {} stands in no section", entry->where, name);
    if (dot == std::string::npos || name == "cost" || name == "target" || name == "engine" ||
        drafts.contains(name))
      continue;
    DraftSeconds& draft = drafts[name];
    OptionSet set;
    add_forward(set, draft.forward);
    set.add("share", &draft.share).in(0, kMostSeconds);
    // The published simulator's oracle pays for a draft in a step of none, too. A trace has no
    // oracle.
    std::string always = "no";
    set.add("always", &always).one_of({"yes", "no"});
    set.read(config, name, faults);
  }
  return drafts;
}

}  // namespace

CostSurface read_cost_surface(const std::string& path) {
  Diagnostics faults;
  const Config config = Config::read(path, {}, faults);
  CostSurface surface;
  OptionSet cost, target, engine;
  cost.add("source", &surface.source);
  cost.read(config, "cost", faults);
  add_forward(target, surface.target);
  target.read(config, "target", faults);
  engine.add("fixed", &surface.engine).in(0, kMostSeconds);
  engine.read(config, "engine", faults);
  for (const char* key :
       {"cost.source", "target.cached", "target.row", "target.fixed", "engine.fixed"})
    if (config.find(key) == nullptr) faults.add("{}: {} is missing", path, key);
  if (config.find("target.fixed") != nullptr && surface.target.fixed == 0)
    faults.add("{}: target.fixed must be above 0", path);
  surface.drafts = read_drafts(config, faults);
  if (!faults.empty()) throw DataError("{}", faults.sentences().front());
  return surface;
}

}  // namespace draftlab
