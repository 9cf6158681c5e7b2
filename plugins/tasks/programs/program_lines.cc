#include "plugins/tasks/programs/program_lines.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace draftlab {
namespace {

// The words that a line begins with, besides the name of a variable that is set.
constexpr std::array<std::string_view, 7> kFirstWords = {"def",   "return", "if", "else",
                                                         "while", "for",    "end"};

}  // namespace

std::vector<std::string> program_lines(const std::string& program) {
  std::istringstream stream(program);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool begins =
        i == 0 || words[i - 1] == ":" || (i + 1 < words.size() && words[i + 1] == "=") ||
        std::find(kFirstWords.begin(), kFirstWords.end(), words[i]) != kFirstWords.end();
    if (begins)
      lines.push_back(words[i]);
    else
      lines.back() += " " + words[i];
  }
  return lines;
}

std::vector<std::size_t> working_lines(const std::vector<std::string>& lines) {
  std::vector<std::size_t> working;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i] != "end" && lines[i] != "else :" && !lines[i].starts_with("def "))
      working.push_back(i);
  return working;
}

}  // namespace draftlab
