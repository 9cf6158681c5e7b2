#include "core/config/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"

namespace draftlab {
namespace {

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

template <class T>
std::string type_name() {
  if constexpr (IsList<T>::value)
    return "list of " + type_name<typename T::value_type>();
  else if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_integral_v<T>)
    return "int";
  else if constexpr (std::is_floating_point_v<T>)
    return "float";
  else
    return "text";
}

template <class T>
std::string print(const T& value) {
  if constexpr (IsList<T>::value) {
    std::string text;
    for (const auto& item : value) text += (text.empty() ? "" : ", ") + print(item);
    return text;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else {
    // Holds the shortest text that reads back as the same number.
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
}

std::string trimmed_item(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class T>
std::optional<T> parse(const std::string& text) {
  if constexpr (IsList<T>::value) {
    T values;
    if (trimmed_item(text).empty()) return values;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const auto item =
          parse<typename T::value_type>(trimmed_item(text.substr(begin, end - begin)));
      if (!item) return std::nullopt;
      values.push_back(*item);
      begin = end + 1;
    }
    return values;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || rest != end) return std::nullopt;
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(value)) return std::nullopt;
    return value;
  }
}

template <class T>
std::vector<double> numbers(const T& value) {
  if constexpr (std::is_same_v<T, std::vector<std::string>>)
    return {};
  else if constexpr (IsList<T>::value)
    return {value.begin(), value.end()};
  else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
    return {static_cast<double>(value)};
  else
    return {};
}

std::string must_be(const std::string& type) {
  if (type == "bool") return "must be true or false";
  if (type == "int") return "must be a whole number";
  if (type == "float") return "must be a number";
  return "must be a comma-separated " + type + "s";
}

}  // namespace

template <class Field>
void Option::bind(Field* field) {
  type_ = type_name<Field>();
  get_ = [field] { return print(*field); };
  numbers_ = [field] { return numbers(*field); };
  set_ = [field](const std::string& text, const Option& self) -> std::string {
    const std::optional<Field> value = parse<Field>(text);
    if (!value) return must_be(self.type_) + (self.ranged_ ? " " + self.range() : "");
    for (double number : numbers(*value))
      if (self.ranged_ && !self.inside(number)) return "must be " + self.range();
    *field = *value;
    return {};
  };
}

Option& Option::in(double low, double high) {
  ranged_ = true;
  low_ = low;
  high_ = high;
  for (double number : numbers_()) {
    if (!inside(number))
      throw Fault("option '{}' has the default {}, which is not {}", name_, value(), range());
  }
  return *this;
}

Option& Option::one_of(std::vector<std::string> choices) {
  choices_ = std::move(choices);
  if (std::find(choices_.begin(), choices_.end(), value()) == choices_.end()) {
    throw Fault("option '{}' has the default '{}', which is not one of {}", name_, value(),
                joined(choices_));
  }
  return *this;
}

Option& Option::help(std::string sentence) {
  help_ = std::move(sentence);
  return *this;
}

bool Option::inside(double number) const { return number >= low_ && number <= high_; }

std::string Option::range() const {
  // Writes 1000000, not 1e+06.
  const auto text = [](double bound) {
    const bool whole = bound == std::floor(bound) && std::abs(bound) < 1e15;
    return whole ? print(static_cast<std::int64_t>(bound)) : print(bound);
  };
  if (std::isinf(high_)) return "at least " + text(low_);
  if (std::isinf(low_)) return "at most " + text(high_);
  return "in [" + text(low_) + ", " + text(high_) + "]";
}

std::string Option::rule() const {
  if (!choices_.empty()) return "one of " + joined(choices_);
  return ranged_ ? type_ + ", " + range() : type_;
}

std::string Option::value() const { return get_(); }

std::string Option::read(const std::string& text) {
  if (!choices_.empty() && std::find(choices_.begin(), choices_.end(), text) == choices_.end()) {
    const std::string near = nearest(text, choices_);
    return "must be one of " + joined(choices_) +
           (near.empty() ? "" : "; did you mean '" + near + "'?");
  }
  return set_(text, *this);
}

Option& OptionSet::declare(std::string name) {
  for (const Option& option : options_)
    if (option.name_ == name) throw Fault("option '{}' is declared twice", name);
  Option& option = options_.emplace_back();
  option.name_ = std::move(name);
  return option;
}

template <class Field>
Option& OptionSet::bind(std::string name, Field* field) {
  Option& option = declare(std::move(name));
  option.bind(field);
  return option;
}

Option& OptionSet::add_choice(std::string name, std::vector<std::string> words,
                              std::function<int()> get, std::function<void(int)> set) {
  Option& option = declare(std::move(name));
  option.type_ = type_name<std::string>();
  option.choices_ = std::move(words);
  option.get_ = [words = option.choices_, get = std::move(get)] {
    return words[static_cast<std::size_t>(get())];
  };
  option.numbers_ = [] { return std::vector<double>(); };
  // Option::read has checked that the text is one of the choices.
  option.set_ = [set = std::move(set)](const std::string& text, const Option& self) {
    const auto at = std::find(self.choices_.begin(), self.choices_.end(), text);
    set(static_cast<int>(at - self.choices_.begin()));
    return std::string();
  };
  return option;
}

Option& OptionSet::add(std::string name, std::int64_t* field) {
  return bind(std::move(name), field);
}
Option& OptionSet::add(std::string name, int* field) { return bind(std::move(name), field); }
Option& OptionSet::add(std::string name, double* field) { return bind(std::move(name), field); }
Option& OptionSet::add(std::string name, bool* field) { return bind(std::move(name), field); }
Option& OptionSet::add(std::string name, std::string* field) {
  return bind(std::move(name), field);
}
Option& OptionSet::add(std::string name, std::vector<std::int64_t>* field) {
  return bind(std::move(name), field);
}
Option& OptionSet::add(std::string name, std::vector<double>* field) {
  return bind(std::move(name), field);
}
Option& OptionSet::add(std::string name, std::vector<std::string>* field) {
  return bind(std::move(name), field);
}

std::string OptionSet::read(const std::string& name, const std::string& text) {
  for (Option& option : options_)
    if (option.name_ == name) return option.read(text);
  throw Fault("no option '{}' is declared", name);
}

void OptionSet::read(const Config& config, const std::string& section, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const Option& option : options_) names.push_back(option.name());
  for (const Config::Entry* entry : config.section(section)) {
    const std::string name = entry->key.substr(section.size() + 1);
    const std::string place = entry->where + ": [" + section + "] ";
    const auto option = std::find_if(options_.begin(), options_.end(),
                                     [&](const Option& o) { return o.name() == name; });
    if (option == options_.end()) {
      const std::string near = nearest(name, names);
      const std::string all = names.empty() ? "it has no options" : "it has " + joined(names);
      const std::string hint = near.empty() ? all : "did you mean '" + near + "'?";
      diagnostics.add("{}unknown option '{}'; {}", place, name, hint);
      continue;
    }
    const std::string rule = option->read(entry->value);
    if (!rule.empty()) diagnostics.add("{}{} = {} {}", place, name, entry->value, rule);
  }
}

}  // namespace draftlab
