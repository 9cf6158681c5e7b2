#include "plugins/tasks/benchmarks/hellaswag_text.h"

#include <cctype>

#include "core/base/error.h"
#include "core/base/json_lines.h"

namespace draftlab {

std::string without_brackets(std::string text) {
  const std::string title = " [title]";
  for (std::size_t at; (at = text.find(title)) != std::string::npos;)
    text.replace(at, title.size(), ". ");
  for (std::size_t open; (open = text.find('[')) != std::string::npos;) {
    const std::size_t close = text.find(']', open);
    if (close == std::string::npos) break;
    text.erase(open, close + 1 - open);
  }
  for (std::size_t at; (at = text.find("  ")) != std::string::npos;) text.erase(at, 1);
  const std::size_t first = text.find_first_not_of(" \n"), last = text.find_last_not_of(" \n");
  return first == std::string::npos ? "" : text.substr(first, last + 1 - first);
}

std::vector<EndingChoice> parse_hellaswag(const std::string& text, const std::string& name) {
  std::vector<EndingChoice> questions;
  for (const JsonObject& object : json_objects(text, name)) {
    EndingChoice question{std::to_string(questions.size()), {}, object.texts("endings"), 0};
    std::string second = object.text("ctx_b");
    if (!second.empty())
      second[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(second[0])));
    question.context = without_brackets(object.text("activity_label") + ": " +
                                        object.text("ctx_a") + " " + second);
    if (question.endings.size() != 4)
      throw DataError("{} has {} endings instead of 4", object.where, question.endings.size());
    for (std::string& ending : question.endings) {
      ending = without_brackets(ending);
      if (ending.empty()) throw DataError("{} has an empty ending", object.where);
    }
    const std::string label = object.has("label") && object.json["label"].is_string()
                                  ? object.text("label")
                                  : std::to_string(object.number("label"));
    if (label.size() != 1 || label[0] < '0' || label[0] > '3')
      throw DataError("{}: 'label' must be 0 to 3, not '{}'", object.where, label);
    question.label = label[0] - '0';
    questions.push_back(std::move(question));
  }
  return questions;
}

}  // namespace draftlab
