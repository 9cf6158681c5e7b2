#include "plugins/tasks/benchmarks/field_template.h"

#include <algorithm>

#include "core/base/error.h"

namespace draftlab {
namespace {

// Returns the value at a path such as a.b.0, and null where there is none.
const nlohmann::json* at_path(const nlohmann::json& from, const std::string& path) {
  const nlohmann::json* at = &from;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    const bool number = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
    if (at->is_object() && at->contains(key))
      at = &(*at)[key];
    else if (at->is_array() && number && key.size() < 10 && std::stoul(key) < at->size())
      at = &(*at)[std::stoul(key)];
    else
      return nullptr;
    begin = end + 1;
  }
  return at;
}

std::string value(const JsonObject& object, const std::string& path) {
  const nlohmann::json* const found = at_path(object.json, path);
  if (!found || found->is_null()) throw DataError("{} has no '{}'", object.where, path);
  if (found->is_string()) return found->get<std::string>();
  if (found->is_structured())
    throw DataError("{} has a list or an object under '{}', where a text is asked", object.where,
                    path);
  return found->dump();
}

}  // namespace

std::string filled(const std::string& text, const JsonObject& object, const std::string& option) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && next == 'n') {
      out += '\n';
      ++i;
    } else if ((c == '{' || c == '}') && next == c) {
      out += c;
      ++i;
    } else if (c == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string::npos)
        throw ConfigError("{} = '{}' has a {{ without its }}", option, text);
      out += value(object, text.substr(i + 1, end - i - 1));
      i = end;
    } else if (c == '}') {
      throw ConfigError("{} = '{}' has a }} without its {{", option, text);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace draftlab
