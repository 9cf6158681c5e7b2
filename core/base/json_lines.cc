#include "core/base/json_lines.h"

#include "core/base/documents.h"
#include "core/base/error.h"

namespace draftlab {

std::vector<JsonObject> json_objects(const std::string& text, const std::string& name) {
  std::vector<JsonObject> all;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '[') {
    nlohmann::json array = nlohmann::json::parse(text, nullptr, false);
    if (array.is_discarded()) throw DataError("'{}' is not a JSON array", name);
    for (nlohmann::json& object : array)
      all.push_back({"'" + name + "' item " + std::to_string(all.size() + 1), std::move(object)});
  } else {
    std::size_t number = 0;
    for (const std::string& line : all_lines(text)) {
      ++number;
      if (!blank(line))
        all.push_back({"'" + name + "' line " + std::to_string(number),
                       nlohmann::json::parse(line, nullptr, false)});
    }
  }
  for (const JsonObject& object : all)
    if (!object.json.is_object()) throw DataError("{} is not a JSON object", object.where);
  if (all.empty()) throw DataError("'{}' holds no JSON object", name);
  return all;
}

std::string JsonObject::text(const std::string& key) const {
  if (!has(key) || !json[key].is_string()) throw DataError("{} has no text under '{}'", where, key);
  std::string text = json[key].get<std::string>();
  std::erase(text, '\r');
  return text;
}

std::vector<std::string> JsonObject::texts(const std::string& key) const {
  if (!has(key) || !json[key].is_array()) throw DataError("{} has no list under '{}'", where, key);
  std::vector<std::string> texts;
  for (const nlohmann::json& item : json[key]) {
    if (!item.is_string())
      throw DataError("{} has something else than texts under '{}'", where, key);
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::int64_t JsonObject::number(const std::string& key) const {
  if (!has(key) || !json[key].is_number_integer())
    throw DataError("{} has no number under '{}'", where, key);
  return json[key].get<std::int64_t>();
}

}  // namespace draftlab
