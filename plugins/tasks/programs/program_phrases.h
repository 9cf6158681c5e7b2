// Parts of the sentences that ask for a program, each with its code: numbers that a loop walks,
// steps, conditions, values of the parameters. The families of problems are put together of them
// (program_problems.cc).
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "plugins/tasks/choices.h"
#include "plugins/tasks/programs/program_problems.h"

namespace draftlab {

// A value as the language writes it, and how tightly its outermost operator binds.
struct Code {
  enum Level { sum, product, sign, atom } level = atom;
  std::string text;
  std::string at_least(Level wanted) const { return level >= wanted ? text : "( " + text + " )"; }
};
inline Code variable(const std::string& name) { return {Code::atom, name}; }

// Something that is done to a number: "add 3" as an order, "increased by 3" as a description.
struct ProgramStep {
  enum Kind { add, subtract, multiply, square, negate, halve, modulo, absolute } kind = add;
  std::string operand;

  std::string order() const {
    switch (kind) {
      case add: return "add " + operand;
      case subtract: return "subtract " + operand;
      case multiply: return "multiply by " + operand;
      case square: return "square it";
      case negate: return "negate it";
      case halve: return "halve it";
      case modulo: return "take the remainder by " + operand;
      default: return "take the absolute value";
    }
  }
  std::string participle() const {
    switch (kind) {
      case add: return "increased by " + operand;
      case subtract: return "decreased by " + operand;
      case multiply: return "multiplied by " + operand;
      case square: return "squared";
      case negate: return "negated";
      case halve: return "halved";
      case modulo: return "taken modulo " + operand;
      default: return "without its sign";
    }
  }
  Code applied(const Code& to) const {
    switch (kind) {
      case add: return {Code::sum, to.text + " + " + operand};
      case subtract: return {Code::sum, to.text + " - " + operand};
      case multiply: return {Code::product, to.at_least(Code::product) + " * " + operand};
      case square:
        return {Code::product, to.at_least(Code::atom) + " * " + to.at_least(Code::atom)};
      case negate: return {Code::sign, "- " + to.at_least(Code::atom)};
      case halve: return {Code::product, to.at_least(Code::product) + " // 2"};
      case modulo: return {Code::product, to.at_least(Code::product) + " % " + operand};
      default: return {Code::atom, "abs ( " + to.text + " )"};
    }
  }
};

// A condition on a number: "greater than 3" after "is" or "are".
struct Condition {
  // The code goes on after the number.
  std::string text, code;
  std::string on(const std::string& name) const { return name + code; }
};

// Joins items as in "add 3, square it and halve it".
inline std::string enumerated(const std::vector<std::string>& items) {
  std::string text = items[0];
  for (std::size_t i = 1; i < items.size(); ++i)
    text += (i + 1 == items.size() ? " and " : ", ") + items[i];
  return text;
}

// Draws parts of one problem, and knows which parameters its function has by now.
class ProgramPhrases {
 protected:
  explicit ProgramPhrases(const Choices& choices) : choices_(choices) {}

  bool one_in(std::size_t count) { return choices_.below(count) == 0; }
  std::string one_of(const std::vector<std::string>& items) { return choices_.of(items); }

  // Returns a or b; b only occurs beside a.
  std::string parameter() {
    const int at = choices_.between(0, std::min(integers_, 1));
    integers_ = std::max(integers_, at + 1);
    return at == 0 ? "a" : "b";
  }
  std::string operand(int low, int high) {
    return one_in(4) ? parameter() : std::to_string(choices_.between(low, high));
  }
  ProgramStep step(bool square_too = true) {
    ProgramStep made;
    do made.kind = static_cast<ProgramStep::Kind>(choices_.below(8));
    while (made.kind == ProgramStep::square && !square_too);
    if (made.kind <= ProgramStep::subtract) made.operand = operand(1, 12);
    if (made.kind == ProgramStep::multiply) made.operand = operand(2, 9);
    if (made.kind == ProgramStep::modulo) made.operand = std::to_string(choices_.between(3, 9));
    return made;
  }
  // Makes `count` steps of which no two neighbours are of one kind. Only short values are squared.
  std::vector<ProgramStep> steps(int count) {
    std::vector<ProgramStep> made;
    while (static_cast<int>(made.size()) < count) {
      const ProgramStep next = step(made.empty());
      if (made.empty() || next.kind != made.back().kind) made.push_back(next);
    }
    return made;
  }

  Condition divides() {
    const int which = choices_.between(0, 3);
    if (which < 2) return {which ? "odd" : "even", which ? " % 2 == 1" : " % 2 == 0"};
    const std::string by = std::to_string(choices_.between(3, 9));
    return {"divisible by " + by, " % " + by + " == 0"};
  }
  // Makes a condition on a number that is called `name`. Unless `any`, the number cannot be
  // negative.
  Condition compares(const std::string& name, bool any = true) {
    if (any && one_in(4))
      return one_in(2) ? Condition{"positive", " > 0"} : Condition{"negative", " < 0"};
    std::string to = operand(any ? 1 : 2, any ? 15 : 8);
    while (to == name) to = operand(1, 15);
    switch (choices_.below(5)) {
      case 0: return {one_of({"greater than ", "more than "}) + to, " > " + to};
      case 1: return {"less than " + to, " < " + to};
      case 2: return {"at least " + to, " >= " + to};
      case 3: return {"at most " + to, " <= " + to};
      default: return {"different from " + to, " != " + to};
    }
  }
  Condition condition(const std::string& name, bool any = true) {
    return one_in(2) ? divides() : compares(name, any);
  }
  // Makes a condition on what a loop walks: it may be that it is in another list, or two things at
  // once.
  std::pair<std::string, std::string> condition_of_x(bool from_list) {
    if (from_list && one_in(8)) {
      second_list_ = true;
      return one_in(2) ? std::pair{"in ys", "x in ys"} : std::pair{"not in ys", "not x in ys"};
    }
    const Condition first = condition("x", from_list);
    if (!one_in(4)) return {first.text, first.on("x")};
    const Condition one = divides(), other = compares("x", from_list);
    const std::string joint = one_of({" and ", " or "});
    return {one.text + joint + other.text, one.on("x") + joint + other.on("x")};
  }

  // Makes "each squared and halved" and its code, from 0 to 2 steps.
  std::pair<std::string, Code> each(int most, const std::string& name) {
    const int count = choices_.between(0, most);
    Code code = variable(name);
    if (count == 0) return {"", code};
    std::vector<std::string> said;
    for (const ProgramStep& one : steps(count)) {
      said.push_back(one.participle());
      code = one.applied(code);
    }
    return {", each " + enumerated(said), code};
  }
  // Makes ", then add 3" and its code, from 0 to 2 steps on what is returned.
  std::pair<std::string, Code> finally(int least, int most, const std::string& name) {
    const int count = choices_.between(least, most);
    Code code = variable(name);
    if (count == 0) return {"", code};
    std::vector<std::string> said;
    for (const ProgramStep& one : steps(count)) {
      said.push_back(one.order());
      code = one.applied(code);
    }
    return {", then " + enumerated(said), code};
  }

  ProgramProblem done(std::string question, const std::string& body) const {
    std::string parameters;
    const auto add = [&](bool used, const char* name) {
      if (used) parameters += (parameters.empty() ? "" : " , ") + std::string(name);
    };
    add(first_list_, "xs");
    add(second_list_, "ys");
    add(integers_ > 0, "a");
    add(integers_ > 1, "b");
    question[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(question[0])));
    return {question + ".", "def f ( " + parameters + " ) : " + body + " end", ""};
  }

  // Numbers that a loop walks: what they are called, and the loop around a body that speaks of x.
  struct Source {
    std::string noun, before, after;
    bool list = false;
  };
  Source source() {
    const int which = choices_.between(0, 4);
    if (which == 0) {
      integers_ = 1;
      const std::string first = std::to_string(choices_.between(1, 4));
      return {"the numbers from " + first + " to a",
              "for x in range ( " + first + " , a + 1 ) : ", " end"};
    }
    if (which == 1) {
      integers_ = 1;
      return {"the digits of a", "r = a while r > 0 : x = r % 10 ", " r = r // 10 end"};
    }
    first_list_ = true;
    return {"the numbers in xs", "for x in xs : ", " end", true};
  }

  // Makes a value of the integer parameters, perhaps with a step: "the larger of a and b", "a
  // multiplied by 3".
  std::pair<std::string, std::string> expression() {
    Code code = variable("a");
    std::string said;
    switch (choices_.below(9)) {
      case 0: integers_ = 2, said = "the larger of a and b", code.text = "max ( a , b )"; break;
      case 1: integers_ = 2, said = "the smaller of a and b", code.text = "min ( a , b )"; break;
      case 2: integers_ = 2, said = "the sum of a and b", code = {Code::sum, "a + b"}; break;
      case 3:
        integers_ = 2, said = "the product of a and b", code = {Code::product, "a * b"};
        break;
      case 4: return {code.text = std::to_string(choices_.between(0, 20)), code.text};
      default: said = code.text = parameter();
    }
    if (!one_in(3)) {
      const ProgramStep one = step(code.text.size() == 1);
      said += (code.text.size() == 1 ? " " : ", ") + one.participle();
      code = one.applied(code);
    }
    return {said, code.text};
  }
  std::pair<std::string, std::string> condition_of_integers() {
    const Condition first = condition("a");
    if (!one_in(3)) return {"a is " + first.text, first.on("a")};
    integers_ = 2;
    const Condition second = condition("b");
    const std::string joint = one_of({" and ", " or "});
    return {"a is " + first.text + joint + "b is " + second.text,
            first.on("a") + joint + second.on("b")};
  }

  Choices choices_;
  bool first_list_ = false, second_list_ = false;
  // How many of the parameters a and b are in use.
  int integers_ = 0;
};

}  // namespace draftlab
