// The arm of an endpoint, once for every way of drawing that requests ask for. All share the models
// and the task.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/arm/loaded_arm.h"
#include "experiments/endpoint/wanted.h"

namespace draftlab {

class ShapedArms {
 public:
  // Loads the arm. The registries outlive this.
  ShapedArms(ComposedArm arm, const Registries& registries);

  // The arm as the config says it.
  const LoadedArm& as_configured() const { return *arms_.front().second; }
  // The arm with the keys that a request sets. It is composed like any config, so what does not fit
  // together is refused (400) in the config's own words.
  std::shared_ptr<const LoadedArm> of(const Wanted& wanted);

 private:
  using Keys = std::vector<std::pair<std::string, std::string>>;
  // So many ways of drawing are remembered besides the config's own; clients may ask for any
  // number.
  static constexpr std::size_t kRemembered = 32;

  std::shared_ptr<const LoadedArm> load(const Keys& keys);

  ComposedArm composed_;
  const Registries& registries_;
  ModelCache cache_;
  // The config's own arm is the first, and the others stand in the order of their last use.
  std::list<std::pair<Keys, std::shared_ptr<const LoadedArm>>> arms_;
};

}  // namespace draftlab
