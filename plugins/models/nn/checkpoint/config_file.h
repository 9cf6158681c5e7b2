// Reads config.json of a checkpoint: keys by name, with a sentence for each that is missing,
// mistyped or out of range.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace draftlab {

using Json = nlohmann::json;

// The keys of a config.json, or of an object in it. A key that is null counts as absent. Errors are
// DataErrors that name the file and the key.
class ConfigFile {
 public:
  ConfigFile(std::string path, Json keys) : path_(std::move(path)), keys_(std::move(keys)) {}
  // Reads FOLDER/config.json. Throws DataError when it cannot be read (`hint` says what is expected
  // there) or holds no object.
  static ConfigFile in(
      const std::string& folder,
      const std::string& hint = "a checkpoint is a folder with config.json and model.safetensors");

  const std::string& path() const { return path_; }
  const Json& keys() const { return keys_; }
  bool has(const char* key) const { return keys_.contains(key) && !keys_[key].is_null(); }
  // Returns the value of a key as an error shows it.
  std::string shown(const char* key) const { return keys_[key].dump().substr(0, 60); }
  // Returns the value of a key, and `fallback` where it is absent.
  template <class T>
  T value(const char* key, const T& fallback) const {
    if (!has(key)) return fallback;
    try {
      return keys_[key].get<T>();
    } catch (const Json::exception&) {
      throw DataError("{}: '{}' is {}, which has the wrong type", path_, key, shown(key));
    }
  }
  // Returns the family that the file states; "" where it states none.
  std::string family() const { return value<std::string>("model_type", ""); }
  // Returns an integer in [low, high], and `fallback` where it is absent. Throws when either lies
  // outside.
  std::int64_t integer(const char* key, std::int64_t low, std::int64_t high,
                       std::int64_t fallback) const;
  // Returns a number above 0, and `fallback` where it is absent.
  double positive(const char* key, double fallback) const;
  // Returns the object under a key, nothing where it is absent.
  std::optional<ConfigFile> object(const char* key) const;
  // Throws when the file is of another family.
  void require_family(const std::string& wanted) const;
  // Throws when a key is there and has another value than `wanted`.
  void require(const char* key, const Json& wanted) const;

 private:
  std::string path_;
  Json keys_;
};

}  // namespace draftlab
