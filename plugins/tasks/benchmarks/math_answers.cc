#include "plugins/tasks/benchmarks/math_answers.h"

#include <algorithm>
#include <cctype>

namespace draftlab {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

// Returns what the braces hold whose opening one is at `open`, and nothing where they are never
// closed.
std::optional<std::string> braced(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '{';
    depth -= text[i] == '}';
    if (depth == 0) return text.substr(open + 1, i - open - 1);
  }
  return std::nullopt;
}

bool digits(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  return text.size() > first &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(first), text.end(),
                     [](unsigned char c) { return std::isdigit(c); });
}

// Writes \frac12 and \frac1{2} as \frac{1}{2}, and \sqrt3 as \sqrt{3}.
std::string with_braces(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool fraction = text.compare(i, 5, "\\frac") == 0,
               root = text.compare(i, 5, "\\sqrt") == 0;
    if (!fraction && !root) {
      out += text[i++];
      continue;
    }
    out += text.substr(i, 5);
    i += 5;
    for (int part = 0; part < (fraction ? 2 : 1) && i < text.size(); ++part) {
      if (text[i] == '{') {
        const auto inner = braced(text, i);
        if (!inner) break;
        out += "{" + with_braces(*inner) + "}";
        i += inner->size() + 2;
      } else if (text[i] == '[' || text[i] == '\\') {
        break;
      } else {
        out += std::string("{") + text[i++] + "}";
      }
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> math_answer(const std::string& text) {
  std::size_t box = std::string::npos;
  for (const std::string name : {"\\boxed", "\\fbox"})
    if (const std::size_t at = text.rfind(name);
        at != std::string::npos && (box == std::string::npos || at > box))
      box = at;
  if (box != std::string::npos) {
    const std::size_t open = text.find_first_of("{ ", box);
    if (open == std::string::npos) return std::nullopt;
    if (text[open] == '{') return braced(text, open);
    // The text is of the form \boxed 3.
    return text.substr(open + 1, text.find('$', open) - open - 1);
  }
  const std::string says = "final answer is";
  const std::size_t at = text.rfind(says);
  if (at == std::string::npos) return std::nullopt;
  std::string answer = text.substr(at + says.size());
  for (const std::string end : {". I hope", "\n"})
    answer.resize(std::min(answer.size(), answer.find(end)));
  const auto edge = [](char c) { return c == ' ' || c == '$' || c == ':' || c == '.'; };
  while (!answer.empty() && edge(answer.back())) answer.pop_back();
  while (!answer.empty() && answer.front() != '.' && edge(answer.front())) answer.erase(0, 1);
  return answer.empty() ? std::nullopt : std::optional(answer);
}

std::string plain_math(std::string text) {
  replace_all(text, "\n", "");
  for (const char* gone :
       {"\\!", "\\left", "\\right", "^{\\circ}", "^\\circ", "\\$", "$", "\\%", "%", "\\,", "\\;"})
    replace_all(text, gone, "");
  replace_all(text, "\\\\", "\\");
  replace_all(text, "tfrac", "frac");
  replace_all(text, "dfrac", "frac");
  if (const std::size_t unit = text.find("\\text{ ");
      unit != std::string::npos && text.rfind("\\text{ ") == unit)
    text.resize(unit);
  if (text.starts_with("\\text{") && braced(text, 5) && braced(text, 5)->size() + 7 == text.size())
    text = *braced(text, 5);
  replace_all(text, " .", " 0.");
  replace_all(text, "{.", "{0.");
  if (text.starts_with('.')) text = "0" + text;
  if (const std::size_t equals = text.find('=');
      equals != std::string::npos && text.rfind('=') == equals) {
    std::string left = text.substr(0, equals);
    std::erase(left, ' ');
    if (left.size() <= 2) text = text.substr(equals + 1);
  }
  std::erase(text, ' ');
  text = with_braces(text);
  if (text == "0.5") text = "\\frac{1}{2}";
  if (const std::size_t slash = text.find('/'); slash != std::string::npos) {
    const std::string above = text.substr(0, slash), below = text.substr(slash + 1);
    if (digits(above) && digits(below)) text = "\\frac{" + above + "}{" + below + "}";
  }
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

}  // namespace draftlab
