#include "plugins/tasks/final_number.h"

#include <cctype>

namespace draftlab {

namespace {

// Returns the first number of `text`, after spaces and signs of currency, and "" when something
// else comes first.
std::string leading_number(const std::string& text) {
  std::size_t at = text.find_first_not_of(" \t\n$");
  if (at == std::string::npos) return {};
  std::string number;
  if (text[at] == '-') number += text[at++];
  for (; at < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[at])) || text[at] == '.' || text[at] == ',');
       ++at)
    if (text[at] != ',') number += text[at];
  if (const std::size_t point = number.find('.'); point != std::string::npos) {
    while (number.back() == '0') number.pop_back();
    if (number.back() == '.') number.pop_back();
  }
  return number.find_first_of("0123456789") == std::string::npos ? std::string() : number;
}

}  // namespace

std::optional<std::string> final_number(const std::string& text) {
  const std::string hashes = "####", box = "\\boxed{";
  std::string number;
  if (const std::size_t at = text.rfind(hashes); at != std::string::npos)
    number = leading_number(text.substr(at + hashes.size()));
  else if (const std::size_t boxed = text.rfind(box); boxed != std::string::npos)
    number = leading_number(text.substr(boxed + box.size()));
  if (number.empty()) return std::nullopt;
  return number;
}

}  // namespace draftlab
