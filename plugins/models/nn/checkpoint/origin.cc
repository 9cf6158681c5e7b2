#include "plugins/models/nn/checkpoint/origin.h"

#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/config_json.h"

namespace draftlab {
namespace {

constexpr const char* kKey = "widened_from";

Json read(const std::string& path) {
  return parsed(path, "a checkpoint is a folder with config.json and model.safetensors");
}

}  // namespace

Origin read_origin(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const Json json = read(path);
  if (!json.contains(kKey)) return {};
  const Json& stated = json[kKey];
  if (!stated.is_object())
    throw DataError("{}: '{}' is {}, it must be an object with 'parameters' and 'digest'", path,
                    kKey, stated.dump().substr(0, 60));
  Origin origin;
  origin.parameters = integer(stated, path, "parameters", 1, std::int64_t{1} << 50, 0);
  origin.digest = value<std::string>(stated, path, "digest", "");
  return origin;
}

void write_origin(const std::string& folder, const Origin& origin) {
  const std::string path = folder + "/config.json";
  Json json = read(path);
  json[kKey] = {{"parameters", origin.parameters}, {"digest", origin.digest}};
  write_whole(path, json.dump(2) + "\n");
}

}  // namespace draftlab
