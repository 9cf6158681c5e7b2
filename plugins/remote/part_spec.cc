#include "plugins/remote/part_spec.h"

#include <limits>

namespace draftlab::remote {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

OptionSpec option_spec(const Json& announced) {
  OptionSpec spec;
  spec.name = announced.at("name"), spec.type = announced.at("type");
  spec.help = announced.at("help"), spec.value = announced.at("value");
  if (!announced.at("low").is_null()) spec.low = announced.at("low").get<double>();
  if (!announced.at("high").is_null()) spec.high = announced.at("high").get<double>();
  spec.choices = announced.at("choices").get<std::vector<std::string>>();
  return spec;
}

}  // namespace

std::vector<Form> forms_of(const Json& names) {
  std::vector<Form> forms;
  for (const Json& each : names) {
    const auto wanted = each.get<std::string>();
    bool known = false;
    for (const Form form :
         {Form::committed, Form::chain, Form::branches, Form::shallow, Form::reverse}) {
      if (name(form) != wanted) continue;
      forms.push_back(form);
      known = true;
    }
    if (!known) throw MalformedMessage("a question of the unknown form '{}'", wanted);
  }
  return forms;
}

PartSpec part_spec(const Json& announced) {
  try {
    PartSpec spec;
    spec.kind = announced.at("kind"), spec.name = announced.at("name");
    spec.summary = announced.at("summary"), spec.place = announced.at("place");
    for (const Json& option : announced.at("options")) spec.options.push_back(option_spec(option));
    spec.methods = announced.at("methods").get<std::set<std::string>>();
    spec.asks = forms_of(announced.at("asks"));
    spec.asks_draft_model = forms_of(announced.at("asks_draft_model"));
    spec.forms = forms_of(announced.at("forms"));
    spec.reads_expected = announced.at("reads_expected");
    spec.reads_draft_length = announced.at("reads_draft_length");
    return spec;
  } catch (const Json::exception& error) {
    throw MalformedMessage("an announcement that is damaged: {}", plain(error));
  }
}

RemoteOptions::RemoteOptions(const PartSpec& spec) : specs_(spec.options) {
  for (const OptionSpec& option : specs_) {
    const Json& value = option.value;
    if (option.type == "int")
      values_.emplace_back(value.get<std::int64_t>());
    else if (option.type == "float")
      values_.emplace_back(value.get<double>());
    else if (option.type == "bool")
      values_.emplace_back(value.get<bool>());
    else if (option.type == "text")
      values_.emplace_back(value.get<std::string>());
    else if (option.type == "list of int")
      values_.emplace_back(value.get<std::vector<std::int64_t>>());
    else if (option.type == "list of float")
      values_.emplace_back(value.get<std::vector<double>>());
    else
      throw MalformedMessage("option '{}' of the unknown type '{}'", option.name, option.type);
  }
}

void RemoteOptions::declare(OptionSet& set) {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const OptionSpec& spec = specs_[i];
    Option& option =
        std::visit([&](auto& field) -> Option& { return set.add(spec.name, &field); }, values_[i]);
    if (spec.low || spec.high)
      option.in(spec.low.value_or(-kUnbounded), spec.high.value_or(kUnbounded));
    if (!spec.choices.empty()) option.one_of(spec.choices);
    option.help(spec.help);
  }
}

Json RemoteOptions::values() const {
  Json values = Json::object();
  for (std::size_t i = 0; i < specs_.size(); ++i)
    std::visit([&](const auto& field) { values[specs_[i].name] = field; }, values_[i]);
  return values;
}

}  // namespace draftlab::remote
