#include "plugins/tasks/sentences.h"

#include <cctype>

namespace draftlab {

std::vector<std::string> sentences_of(const std::string& text) {
  std::vector<std::string> sentences;
  std::size_t begin = text.find_first_not_of(' ');
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] != '.' && text[i] != '!' && text[i] != '?') continue;
    std::size_t end = i + 1;
    while (end < text.size() && (text[end] == '"' || text[end] == '\'' || text[end] == ')')) ++end;
    const std::size_t next = text.find_first_not_of(' ', end);
    const bool last = next == std::string::npos;
    if (!last && (next == end ||
                  !(std::isupper(static_cast<unsigned char>(text[next])) ||
                    std::isdigit(static_cast<unsigned char>(text[next])) || text[next] == '"')))
      continue;
    sentences.push_back(text.substr(begin, end - begin));
    begin = last ? text.size() : next;
    i = begin - 1;
  }
  if (begin < text.size()) sentences.push_back(text.substr(begin));
  return sentences;
}

}  // namespace draftlab
