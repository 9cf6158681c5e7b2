// Another process announces each class that it has: its kind, name, options and questions.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/config/options.h"
#include "core/prob/types.h"
#include "plugins/remote/wire/message.h"

namespace draftlab::remote {

struct OptionSpec {
  std::string name, type, help;
  Json value;
  std::optional<double> low, high;
  std::vector<std::string> choices;
};

struct PartSpec {
  std::string kind, name, summary;
  // The file and the line of the class.
  std::string place;
  std::vector<OptionSpec> options;
  // The methods that the class defines.
  std::set<std::string> methods;
  std::vector<Form> asks, asks_draft_model;
  // The forms of question that a model answers.
  std::vector<Form> forms;
  bool reads_expected = false, reads_draft_length = true;
  bool has(const std::string& method) const { return methods.contains(method); }
};

// These read an announcement, and throw MalformedMessage where it is none.
PartSpec part_spec(const Json& announced);
std::vector<Form> forms_of(const Json& names);

// Options that are known at run time only. Their fields stand in this object.
class RemoteOptions {
 public:
  explicit RemoteOptions(const PartSpec& spec);
  void declare(OptionSet& set);
  // Returns the value of each option by its name.
  Json values() const;

 private:
  using Value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                             std::vector<double>>;
  std::vector<OptionSpec> specs_;
  std::vector<Value> values_;
};

}  // namespace draftlab::remote
