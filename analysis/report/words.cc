#include "analysis/report/words.h"

#include <algorithm>
#include <cstdlib>

namespace draftlab {
namespace {

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != 0 ? std::nullopt : std::optional(value);
}

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
  const bool bare = !number_of(value) && value != "true" && value != "false";
  return bare ? value : words + " " + value;
}

std::string title_words(const Metric& quantity) {
  return quantity.title == quantity.name ? spaced(quantity.title) : quantity.title;
}

std::string factor_words(const Metric& quantity) {
  return title_words(quantity) +
         (quantity.compare == Metric::Compare::cost ? ", times fewer" : ", times more");
}

std::string ArmName::text() const {
  std::string text = label;
  for (const auto& [key, value] : values) text += (text.empty() ? "" : " ") + key + "=" + value;
  return text;
}

std::string ArmName::short_text() const {
  ArmName shorter = *this;
  for (auto& [key, value] : shorter.values) key = last_part(key);
  return shorter.text();
}

ArmName arm_name(const Frame& frame, int arm) {
  const RunRow& run = frame.arms()[static_cast<std::size_t>(arm)].run;
  // An arm that nothing distinguishes is called after its drafter.
  ArmName name{run.label.empty() && run.axes.empty() ? run.arm : run.label};
  for (const AxisRow& axis : run.axes) name.values.emplace_back(axis.key, axis.value);
  return name;
}

}  // namespace draftlab
