// What another process says of a class that it has: kind, name, options, questions.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/config/options.h"
#include "core/prob/types.h"
#include "plugins/remote/message.h"

namespace draftlab::remote {

struct OptionSpec {
  std::string name, type, help;
  Json value;
  std::optional<double> low, high;
  std::vector<std::string> choices;
};

struct PartSpec {
  std::string kind, name, summary;
  std::string place;  // file and line of the class
  std::vector<OptionSpec> options;
  std::set<std::string> methods;  // those that the class defines
  std::vector<Form> asks, asks_draft_model;
  std::vector<Form> forms;  // of a model: what it answers
  bool reads_expected = false, reads_draft_length = true;
  bool has(const std::string& method) const { return methods.contains(method); }
};

// Nonsense where the announcement is none.
PartSpec part_spec(const Json& announced);
std::vector<Form> forms_of(const Json& names);

// Options that are known at run time only, with fields of their own.
class RemoteOptions {
 public:
  explicit RemoteOptions(const PartSpec& spec);
  void declare(OptionSet& set);
  Json values() const;  // by name

 private:
  using Value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                             std::vector<double>>;
  std::vector<OptionSpec> specs_;
  std::vector<Value> values_;
};

}  // namespace draftlab::remote
