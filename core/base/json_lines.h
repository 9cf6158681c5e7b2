// Files of JSON objects, one a line or all in one array, each with its place for messages.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace draftlab {

struct JsonObject {
  std::string where;  // "'test.jsonl' line 3"
  nlohmann::json json;

  bool has(const std::string& key) const { return json.contains(key) && !json[key].is_null(); }
  // DataError where the key is missing or holds something else. Carriage returns are dropped.
  std::string text(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  std::int64_t number(const std::string& key) const;
};

// DataError naming the line that is no object, or when there is none at all.
std::vector<JsonObject> json_objects(const std::string& text, const std::string& name);

}  // namespace draftlab
