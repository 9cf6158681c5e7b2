// Declares options: each has a field, a default, a range and a help text. Parsing, validation,
// `describe`, the resolved config in the trace and the docs all come from that one declaration.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace draftlab {

class Config;
class Diagnostics;

// One declared option, bound to a field that outlives the OptionSet. OptionSet::add returns it, so
// that calls can be chained.
class Option {
 public:
  // Sets the inclusive range of a number. NaN is never inside.
  Option& in(double low, double high);
  // Sets the words that a text may be.
  Option& one_of(std::vector<std::string> choices);
  Option& help(std::string sentence);

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  // Says whether the option is true or false, so that a flag needs no value.
  bool is_switch() const { return type_ == "bool"; }
  // The rule that values follow, such as "int, in [1, 8]".
  std::string rule() const;
  // The canonical text of the field. Reading it back gives the same value.
  std::string value() const;
  // Sets the field, or leaves it and returns the rule that the text breaks, such as "must be in [1,
  // 8]".
  std::string read(const std::string& text);

 private:
  friend class OptionSet;
  template <class Field>
  void bind(Field* field);
  // The range as text, such as "in [1, 8]".
  std::string range() const;
  // Says whether a number is in the range. It is false for NaN.
  bool inside(double number) const;
  std::string name_, help_, type_;
  // Sets the field and returns nothing, or leaves it and returns the rule that the text breaks.
  std::function<std::string(const std::string&, const Option&)> set_;
  std::function<std::string()> get_;
  // The numbers in the field; strings, choices and booleans have none.
  std::function<std::vector<double>()> numbers_;
  bool ranged_ = false;
  double low_ = 0, high_ = 0;
  std::vector<std::string> choices_;
};

class OptionSet {
 public:
  Option& add(std::string name, std::int64_t* field);
  Option& add(std::string name, int* field);
  Option& add(std::string name, double* field);
  // Reads true or false.
  Option& add(std::string name, bool* field);
  Option& add(std::string name, std::string* field);
  // Reads numbers separated by commas.
  Option& add(std::string name, std::vector<std::int64_t>* field);
  Option& add(std::string name, std::vector<double>* field);
  // Reads words separated by commas.
  Option& add(std::string name, std::vector<std::string>* field);
  // Adds a choice: words(Enum) lists the word of each value, in the order of the values.
  template <class Enum>
  requires std::is_enum_v<Enum> Option& add(std::string name, Enum* field) {
    static constexpr auto all = words(Enum{});
    return add_choice(
        std::move(name), {all.begin(), all.end()}, [field] { return static_cast<int>(*field); },
        [field](int value) { *field = static_cast<Enum>(value); });
  }

  const std::vector<Option>& options() const { return options_; }
  // Reads the text of one option into its field, or returns the rule that the text breaks.
  std::string read(const std::string& name, const std::string& text);
  // Reads every key `section.*` of the config into the fields. Unknown keys and bad values become
  // sentences with file, line and suggestion.
  void read(const Config& config, const std::string& section, Diagnostics& diagnostics);

 private:
  Option& declare(std::string name);
  template <class Field>
  Option& bind(std::string name, Field* field);
  Option& add_choice(std::string name, std::vector<std::string> words, std::function<int()> get,
                     std::function<void(int)> set);
  std::vector<Option> options_;
};

}  // namespace draftlab
