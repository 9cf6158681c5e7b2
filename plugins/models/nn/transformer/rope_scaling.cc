#include "plugins/models/nn/transformer/rope_scaling.h"

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/base/words.h"

namespace draftlab {
namespace {

double positive(const ConfigFile& file, const char* key) {
  const auto number = file.value<double>(key, 0);
  if (!(number > 0) || !std::isfinite(number))
    throw DataError("{}: '{}' is {}, it must be a positive number", file.path(), key,
                    file.keys().contains(key) ? file.shown(key) : "missing");
  return number;
}

RopeScaling read_scaling(const ConfigFile& file) {
  const auto type = file.value<std::string>("rope_type", file.value<std::string>("type", ""));
  RopeScaling scaling;
  if (type == word(RopeKind::none)) return scaling;
  if (type == word(RopeKind::linear)) {
    scaling.kind = RopeKind::linear;
  } else if (type == word(RopeKind::llama3)) {
    scaling.kind = RopeKind::llama3;
    scaling.low = positive(file, "low_freq_factor");
    scaling.high = positive(file, "high_freq_factor");
    scaling.original = file.integer("original_max_position_embeddings", 1, 1 << 30, 0);
    if (!(scaling.low < scaling.high))
      throw DataError("{}: 'low_freq_factor' is {}, it must be less than 'high_freq_factor', {}",
                      file.path(), scaling.low, scaling.high);
  } else {
    throw DataError(
        "{}: 'rope_type' is '{}'; the rotary scalings 'default', 'linear' and 'llama3' are "
        "supported",
        file.path(), type.substr(0, 60));
  }
  scaling.factor = positive(file, "factor");
  return scaling;
}

}  // namespace

Rope read_rope(const ConfigFile& file) {
  const std::optional<ConfigFile> newer = file.object("rope_parameters"),
                                  older = file.object("rope_scaling"),
                                  &scaling = newer ? newer : older;
  Rope rope;
  rope.theta = file.value<double>("rope_theta", 1e4);
  if (newer) rope.theta = newer->value<double>("rope_theta", rope.theta);
  if (!(rope.theta > 0)) throw DataError("{}: 'rope_theta' must be positive", file.path());
  if (scaling) rope.scaling = read_scaling(*scaling);
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
