#include "plugins/models/nn/transformer/rope_scaling.h"

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/base/words.h"

namespace draftlab {
namespace {

// Returns the object under `key`, or null where there is none.
Json object(const Json& json, const std::string& path, const char* key) {
  const Json found = value<Json>(json, path, key, nullptr);
  if (!found.is_null() && !found.is_object())
    throw DataError("{}: '{}' is {}, it must be an object", path, key, found.dump().substr(0, 60));
  return found;
}

double positive(const Json& json, const std::string& path, const char* key) {
  const auto number = value<double>(json, path, key, 0);
  if (!(number > 0) || !std::isfinite(number))
    throw DataError("{}: '{}' is {}, it must be a positive number", path, key,
                    json.contains(key) ? json[key].dump().substr(0, 60) : "missing");
  return number;
}

RopeScaling read_scaling(const Json& json, const std::string& path) {
  const auto type =
      value<std::string>(json, path, "rope_type", value<std::string>(json, path, "type", ""));
  RopeScaling scaling;
  if (type == word(RopeKind::none)) return scaling;
  if (type == word(RopeKind::linear)) {
    scaling.kind = RopeKind::linear;
  } else if (type == word(RopeKind::llama3)) {
    scaling.kind = RopeKind::llama3;
    scaling.low = positive(json, path, "low_freq_factor");
    scaling.high = positive(json, path, "high_freq_factor");
    scaling.original = integer(json, path, "original_max_position_embeddings", 1, 1 << 30, 0);
    if (!(scaling.low < scaling.high))
      throw DataError("{}: 'low_freq_factor' is {}, it must be less than 'high_freq_factor', {}",
                      path, scaling.low, scaling.high);
  } else {
    throw DataError(
        "{}: 'rope_type' is '{}'; the rotary scalings 'default', 'linear' and 'llama3' are "
        "supported",
        path, type.substr(0, 60));
  }
  scaling.factor = positive(json, path, "factor");
  return scaling;
}

}  // namespace

Rope read_rope(const Json& json, const std::string& path) {
  const Json newer = object(json, path, "rope_parameters"),
             older = object(json, path, "rope_scaling"), &scaling = newer.is_null() ? older : newer;
  Rope rope;
  rope.theta = value<double>(json, path, "rope_theta", 1e4);
  if (newer.is_object()) rope.theta = value<double>(newer, path, "rope_theta", rope.theta);
  if (!(rope.theta > 0)) throw DataError("{}: 'rope_theta' must be positive", path);
  if (!scaling.is_null()) rope.scaling = read_scaling(scaling, path);
  return rope;
}

Json rope_scaling_json(const RopeScaling& scaling) {
  if (scaling.kind == RopeKind::none) return nullptr;
  Json json{{"rope_type", word(scaling.kind)}, {"factor", scaling.factor}};
  if (scaling.kind == RopeKind::llama3) {
    json["low_freq_factor"] = scaling.low;
    json["high_freq_factor"] = scaling.high;
    json["original_max_position_embeddings"] = scaling.original;
  }
  return json;
}

std::vector<double> rope_divisors(const Rope& rope, std::int64_t rotary) {
  const RopeScaling& scaling = rope.scaling;
  std::vector<double> divisors(static_cast<std::size_t>(rotary / 2),
                               scaling.kind == RopeKind::linear ? scaling.factor : 1);
  if (scaling.kind != RopeKind::llama3) return divisors;
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    const double frequency =
        std::pow(rope.theta, -2 * static_cast<double>(i) / static_cast<double>(rotary));
    // So many wavelengths lie in a text of the first training.
    const double turns = static_cast<double>(scaling.original) * frequency / (2 * std::numbers::pi);
    const double share = (turns - scaling.low) / (scaling.high - scaling.low);
    if (share <= 0)
      divisors[i] = scaling.factor;
    else if (share < 1)
      divisors[i] = 1 / ((1 - share) / scaling.factor + share);
  }
  return divisors;
}

}  // namespace draftlab
