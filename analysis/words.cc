#include "analysis/words.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace draftlab {
namespace {

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

}  // namespace

std::string key_words(const std::string& key, const std::vector<std::string>& keys) {
  const std::string last = last_part(key);
  const bool taken = std::any_of(keys.begin(), keys.end(), [&](const std::string& other) {
    return other != key && last_part(other) == last;
  });
  const std::size_t dot = key.rfind('.');
  if (!taken || dot == std::string::npos) return spaced(last);
  return spaced(last_part(key.substr(0, dot)) + " " + last);
}

std::string value_words(const std::string& key, const std::string& value,
                        const std::vector<std::string>& keys) {
  const std::string words = key_words(key, keys);
  if (value.empty()) return "no " + words;
  const bool bare = !is_number(value) && value != "true" && value != "false";
  return bare ? value : words + " " + value;
}

std::string title_words(const Quantity& quantity) {
  return quantity.title == quantity.name ? spaced(quantity.title) : quantity.title;
}

std::string factor_words(const Quantity& quantity) {
  return title_words(quantity) +
         (quantity.compare == Quantity::Compare::cost ? ", times fewer" : ", times more");
}

ArmName arm_name(const Frame& frame, int arm) {
  ArmName name;
  std::istringstream words(frame.arms()[static_cast<std::size_t>(arm)].run.arm);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const bool known = equals != std::string::npos &&
                       std::any_of(frame.arms().begin(), frame.arms().end(),
                                   [&](const Frame::Arm& other) { return other.find(key); });
    if (known)
      name.values.emplace_back(key, word.substr(equals + 1));
    else
      name.label += (name.label.empty() ? "" : " ") + word;
  }
  return name;
}

}  // namespace draftlab
