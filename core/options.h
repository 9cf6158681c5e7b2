// One declaration an option: field, default, range and help. Parsing, validation, `describe`, the resolved config in the
// trace and the docs all come from it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

class Config;
class Faults;

// One declared option, bound to a field that outlives the OptionSet. Returned by OptionSet::add for chaining.
class Option {
 public:
  Option& in(double low, double high);                       // numbers: inclusive range; NaN is never inside
  Option& one_of(std::vector<std::string> choices);          // strings
  Option& help(std::string sentence);

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  std::string rule() const;   // "int, in [1, 8]"
  std::string value() const;  // canonical text of the field: reading it back gives the same value
  // Sets the field; the sentence that says what is wrong, or "".
  std::string read(const std::string& text);

 private:
  friend class OptionSet;
  std::string name_, help_, type_;
  std::string range() const;          // "in [1, 8]"
  bool inside(double number) const;   // false for NaN
  std::function<bool(const std::string&, const Option&)> set_;  // false, and the field untouched, when the text is none or outside
  std::function<bool(const std::string&)> parses_;              // is the text of the option's type at all
  std::function<std::string()> get_;
  std::function<std::vector<double>()> numbers_;                // empty for strings and booleans
  bool ranged_ = false;
  double low_ = 0, high_ = 0;
  std::vector<std::string> choices_;
};

class OptionSet {
 public:
  Option& add(std::string name, std::int64_t* field);
  Option& add(std::string name, int* field);
  Option& add(std::string name, double* field);
  Option& add(std::string name, bool* field);                      // true/false
  Option& add(std::string name, std::string* field);
  Option& add(std::string name, std::vector<std::int64_t>* field); // comma separated
  Option& add(std::string name, std::vector<double>* field);

  const std::vector<Option>& options() const { return options_; }
  // Reads every key `section.*` of the config into the fields; unknown keys and bad values become faults with file, line and
  // suggestion.
  void read(const Config& config, const std::string& section, Faults& faults);

 private:
  template <class Codec, class Field> Option& bind(std::string name, std::string type, Field* field);
  std::vector<Option> options_;
};

}  // namespace draftlab
