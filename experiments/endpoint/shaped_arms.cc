#include "experiments/endpoint/shaped_arms.h"

#include <algorithm>
#include <iterator>

#include "core/base/error.h"

namespace draftlab {

ShapedArms::ShapedArms(ComposedArm arm, const Registries& registries)
    : composed_(std::move(arm)), registries_(registries) {
  arms_.emplace_back(
      Keys(), std::make_shared<LoadedArm>(cache_.arm(composed_.cell, composed_.composition)));
}

std::shared_ptr<const LoadedArm> ShapedArms::of(const Wanted& wanted) {
  Keys keys;
  if (wanted.temperature)
    keys.emplace_back("decode.temperature", fmt::format("{}", *wanted.temperature));
  if (wanted.top_p) keys.emplace_back("decode.top_p", fmt::format("{}", *wanted.top_p));
  // Some clients write -1 where nothing is cut off.
  if (wanted.top_k)
    keys.emplace_back("decode.top_k", std::to_string(std::max<std::int64_t>(0, *wanted.top_k)));
  if (wanted.ignore_end) keys.emplace_back("decode.stop", "off");
  const auto known =
      std::find_if(arms_.begin(), arms_.end(), [&](const auto& arm) { return arm.first == keys; });
  if (known == arms_.end())
    arms_.emplace_back(keys, load(keys));
  else if (known != arms_.begin())
    arms_.splice(arms_.end(), arms_, known);
  else
    return known->second;
  if (arms_.size() > kRemembered + 1) arms_.erase(std::next(arms_.begin()));
  return arms_.back().second;
}

std::shared_ptr<const LoadedArm> ShapedArms::load(const Keys& keys) {
  Config config = composed_.cell.config;
  for (const auto& [key, value] : keys) config.set({key, value, "the request's " + key});
  try {
    Diagnostics diagnostics;
    Composition composition = compose(config, registries_, diagnostics);
    diagnostics.raise();
    return std::make_shared<LoadedArm>(cache_.arm(composed_.cell, std::move(composition)));
  } catch (const ConfigError& error) {
    throw Refusal(400, error.what());
  }
}

}  // namespace draftlab
