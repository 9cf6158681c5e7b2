// Random bytes and mutated programs: parsing refuses or takes them, and every run ends within its
// limits.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "plugins/tasks/choices.h"
#include "plugins/tasks/programs/program_tests.h"

namespace draftlab {
namespace {

const std::vector<std::string> kWords = {"def",       "f",
                                         "(",         ")",
                                         ":",         "end",
                                         "return",    "if",
                                         "else",      "while",
                                         "for",       "in",
                                         "and",       "or",
                                         "not",       "=",
                                         "==",        "!=",
                                         "<",         "<=",
                                         ">",         ">=",
                                         "+",         "-",
                                         "*",         "//",
                                         "%",         "[",
                                         "]",         ",",
                                         "a",         "b",
                                         "xs",        "x",
                                         "t",         "0",
                                         "1",         "9223372036854775807",
                                         "range",     "len",
                                         "sum",       "sort",
                                         "reverse",   "min",
                                         "max",       "abs",
                                         "while 1 :", "f ( a )",
                                         "t = t + t", "range ( 99999 )",
                                         "\xff",      "\"",
                                         "3x"};

std::string bytes(Choices& choices) {
  std::string text;
  for (int length = choices.between(0, 200); length > 0; --length)
    text += static_cast<char>(choices.between(0, 255));
  return text;
}

std::string soup(Choices& choices) {
  std::string text;
  for (int length = choices.between(0, 60); length > 0; --length) text += choices.of(kWords) + " ";
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string joined(Choices& choices, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += word + (choices.below(8) == 0 && text.size() % 2 ? "\n" : " ");
  return text;
}

// A solution with words changed, put in, left out and repeated.
std::string mutated(Choices& choices, const std::string& answer) {
  std::vector<std::string> words = words_of(answer);
  for (int edits = choices.between(1, 4); edits > 0; --edits) {
    const std::size_t at = choices.below(words.size());
    const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
    switch (choices.below(4)) {
      case 0: words.insert(place, choices.of(kWords)); break;
      case 1: words[at] = choices.of(kWords); break;
      case 2:
        if (words.size() > 1) words.erase(place);
        break;
      default: {
        const std::vector<std::string> repeated(words.begin(), place);
        words.insert(words.begin() + static_cast<std::ptrdiff_t>(choices.below(words.size() + 1)),
                     repeated.begin(), repeated.end());
      }
    }
  }
  return joined(choices, words);
}

// A solution with words changed for others of their sort, so that it is a program still: values,
// operators, statements' ends.
std::string bent(Choices& choices, const std::string& answer) {
  const std::vector<std::vector<std::string>> sorts = {
      {"a", "b", "t", "x", "xs", "r", "i", "0", "1", "9223372036854775807", "[ ]", "f ( a )",
       "range ( 999999 )", "range ( x )", "( t + t )", "( t * t )"},
      {"+", "-", "*", "//", "%"},
      {"==", "!=", "<", "<=", ">", ">=", "in"},
      {"len", "sum", "sort", "reverse", "min", "max", "abs", "range", "f"}};
  std::vector<std::string> words = words_of(answer);
  const auto signature =
      static_cast<std::size_t>(std::find(words.begin(), words.end(), ":") - words.begin());
  for (int edits = choices.between(1, 8); edits > 0; --edits) {
    std::string& word = words[signature + choices.below(words.size() - signature)];
    if (word == "if" && choices.below(2) == 0) word = "while";
    for (const auto& sort : sorts)
      if (&word + 1 < words.data() + words.size() && *(&word + 1) != "=" && *(&word + 1) != "in" &&
          std::find(sort.begin(), sort.end(), word) != sort.end()) {
        word = choices.of(sort);
        break;
      }
  }
  return joined(choices, words);
}

TEST_CASE("whatever the program, it is refused or every run ends within its limits") {
  const ProgramLimits limits;
  const std::vector<std::vector<ProgramValue>> calls = {
      {},
      {ProgramValue::of(3)},
      {ProgramValue::of(ProgramList{3, -1, 12})},
      {ProgramValue::of(ProgramList{3, 1}), ProgramValue::of(2)}};
  int refused = 0, ended = 0, limited = 0;
  for (std::int64_t round = 0; round < 20000; ++round) {
    CAPTURE(round);
    Choices choices(1, round, 0, 0);
    const std::string answer = make_program_problem(1, round).answer;
    const std::string text = round % 8 == 0   ? bytes(choices)
                             : round % 8 == 1 ? soup(choices)
                             : round % 2 == 0 ? mutated(choices, answer)
                                              : bent(choices, answer);
    const Program program = Program::parse(text);
    CHECK(program.ok() == program.error().empty());
    refused += !program.ok();
    for (std::vector<ProgramValue> call : calls) {
      if (program.ok()) call.resize(program.parameters("f").size(), ProgramValue::of(5));
      const ProgramOutcome outcome = program.run("f", call, limits);
      REQUIRE(outcome.steps <= limits.steps);
      if (outcome.value.list)
        REQUIRE(outcome.value.list->size() <= static_cast<std::size_t>(limits.elements));
      CHECK((program.ok() || !outcome.ok()));
      ended += outcome.ok();
      limited += outcome.failure == ProgramFailure::steps ||
                 outcome.failure == ProgramFailure::memory ||
                 outcome.failure == ProgramFailure::depth;
    }
  }
  INFO(refused << " refused; of the runs " << ended << " returned and " << limited
               << " met a limit");
  CHECK(refused > 5000);
  CHECK(ended > 1000);
  CHECK(limited > 100);
}

}  // namespace
}  // namespace draftlab
