// Reads files of JSON objects, one a line or all in one array, and keeps the place of each for
// messages.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace draftlab {

struct JsonObject {
  // The place of the object, such as "'test.jsonl' line 3".
  std::string where;
  nlohmann::json json;

  bool has(const std::string& key) const { return json.contains(key) && !json[key].is_null(); }
  // These throw DataError where the key is missing or holds a value of another type. Carriage
  // returns in texts are dropped.
  std::string text(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  std::int64_t number(const std::string& key) const;
};

// Parses a whole text. Throws DataError naming the line that is no object, or when there is no
// object at all.
std::vector<JsonObject> json_objects(const std::string& text, const std::string& name);

}  // namespace draftlab
