// Reads config.json of a checkpoint: keys by name, with a sentence for each that is missing,
// mistyped or out of range.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"

namespace draftlab {

using Json = nlohmann::json;

// Parses a file. Throws DataError when the file cannot be read (`hint` says what is expected there)
// or holds no object.
inline Json parsed(const std::string& path, const std::string& hint) {
  // A pipe is not waited for.
  std::ifstream file;
  if (std::filesystem::is_regular_file(path)) file.open(path);
  if (!file.is_open()) throw DataError("{}: cannot be read; {}", path, hint);
  Json json = Json::parse(file, nullptr, false);
  if (!json.is_object()) throw DataError("{}: is not a JSON object", path);
  return json;
}

// Returns the value of one key, and `fallback` where it is absent or null.
template <class T>
T value(const Json& json, const std::string& path, const char* key, const T& fallback) {
  if (!json.contains(key) || json[key].is_null()) return fallback;
  try {
    return json[key].get<T>();
  } catch (const Json::exception&) {
    throw DataError("{}: '{}' is {}, which has the wrong type", path, key,
                    json[key].dump().substr(0, 60));
  }
}

// Returns an integer in [low, high], and `fallback` where it is absent. Throws DataError when the
// value lies outside.
inline std::int64_t integer(const Json& json, const std::string& path, const char* key,
                            std::int64_t low, std::int64_t high, std::int64_t fallback) {
  const bool given = json.contains(key) && !json[key].is_null();
  if (given && !json[key].is_number_integer())
    throw DataError("{}: '{}' must be an integer, not {}", path, key,
                    json[key].dump().substr(0, 60));
  const std::int64_t number = given ? json[key].get<std::int64_t>() : fallback;
  if (number >= low && number <= high) return number;
  if (!given) throw DataError("{}: has no '{}'", path, key);
  throw DataError("{}: '{}' is {}, outside [{}, {}]", path, key, json[key].dump(), low, high);
}

// Throws DataError when a key is there and has another value than `wanted`.
inline void require(const Json& json, const std::string& path, const char* key,
                    const Json& wanted) {
  if (json.contains(key) && !json[key].is_null() && json[key] != wanted) {
    throw DataError("{}: '{}' is {}, only {} is supported", path, key,
                    json[key].dump().substr(0, 60), wanted.dump());
  }
}

}  // namespace draftlab
