#include "plugins/models/nn/checkpoint/config_file.h"

#include <filesystem>
#include <fstream>

namespace draftlab {

ConfigFile ConfigFile::in(const std::string& folder, const std::string& hint) {
  const std::string path = folder + "/config.json";
  // A pipe is not waited for.
  std::ifstream file;
  if (std::filesystem::is_regular_file(path)) file.open(path);
  if (!file.is_open()) throw DataError("{}: cannot be read; {}", path, hint);
  Json keys = Json::parse(file, nullptr, false);
  if (!keys.is_object()) throw DataError("{}: is not a JSON object", path);
  return {path, std::move(keys)};
}

std::int64_t ConfigFile::integer(const char* key, std::int64_t low, std::int64_t high,
                                 std::int64_t fallback) const {
  const bool given = has(key);
  if (given && !keys_[key].is_number_integer())
    throw DataError("{}: '{}' must be an integer, not {}", path_, key, shown(key));
  const std::int64_t number = given ? keys_[key].get<std::int64_t>() : fallback;
  if (number >= low && number <= high) return number;
  if (!given) throw DataError("{}: has no '{}'", path_, key);
  throw DataError("{}: '{}' is {}, outside [{}, {}]", path_, key, keys_[key].dump(), low, high);
}

double ConfigFile::positive(const char* key, double fallback) const {
  const auto number = value<double>(key, fallback);
  if (!(number > 0)) throw DataError("{}: '{}' must be positive", path_, key);
  return number;
}

std::optional<ConfigFile> ConfigFile::object(const char* key) const {
  if (!has(key)) return std::nullopt;
  if (!keys_[key].is_object())
    throw DataError("{}: '{}' is {}, it must be an object", path_, key, shown(key));
  return ConfigFile(path_, keys_[key]);
}

void ConfigFile::require_family(const std::string& wanted) const {
  if (family() == wanted) return;
  throw DataError("{}: is a checkpoint of another family, model_type '{}' instead of '{}'", path_,
                  family().empty() ? "(none)" : family(), wanted);
}

void ConfigFile::require(const char* key, const Json& wanted) const {
  if (has(key) && keys_[key] != wanted)
    throw DataError("{}: '{}' is {}, only {} is supported", path_, key, shown(key), wanted.dump());
}

}  // namespace draftlab
