// The small language in which task `programs` is answered: Python's words, `end` where Python
// indents, integers and lists of integers, nothing else. White space only separates, so a program
// is one line of text as well as many:
//   def f ( xs ) : t = 0 for x in xs : if x > 3 : t = t + x * 2 end end return t end
//
//   program    = function { function }                         the function asked for is `f`
//   function   = "def" name "(" [ name { "," name } ] ")" ":" block "end"
//   block      = { statement }
//   statement  = name "=" value | "return" value | "if" value ":" block [ "else" ":" block ] "end"
//              | "while" value ":" block "end" | "for" name "in" value ":" block "end"
//   value      = any of these, loosest first; those of a kind from left to right, but comparisons
//   do not chain:
//                or, and, not, comparison == != < <= > >= in, + -, * // %, sign -, list [ index ],
//                number, name, name ( values ), ( value ), [ values ]
//
// As in Python: // and % round down, indices begin with 0 (negative ones are refused), `and` and
// `or` look at their right side only if need be, arguments are values, a function sees its own
// variables. A truth value is 1 or 0. Lists never change; + joins two. Built in: len sum sort
// reverse (of a list), abs (of an integer), min max (of a list, or of two integers and more), range
// (end) and range (first, end).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

using ProgramList = std::vector<std::int64_t>;

// An integer, or a list of them.
struct ProgramValue {
  std::int64_t number = 0;
  std::shared_ptr<const ProgramList> list;  // null: an integer
  static ProgramValue of(std::int64_t number) { return {number, nullptr}; }
  static ProgramValue of(ProgramList list) {
    return {0, std::make_shared<const ProgramList>(std::move(list))};
  }
  bool operator==(const ProgramValue& other) const;
};
std::string to_string(const ProgramValue& value);  // "3", "[1, 2]"

// What one run may use. Elements of lists are counted when they are made and never given back, so
// no run holds more.
struct ProgramLimits {
  std::int64_t steps = 20000;     // nodes evaluated, and elements looked at or made
  std::int64_t elements = 20000;  // of lists, made
  int depth = 400;                // of calls and of what nests in them, together
};

// Why a run has no value.
enum class ProgramFailure {
  none,
  steps,
  memory,
  depth,
  overflow,
  division,
  index,
  kind,
  name,
  empty,
  no_return
};
std::string to_string(ProgramFailure failure);  // "steps", "memory", ...

struct ProgramOutcome {
  ProgramFailure failure = ProgramFailure::none;
  ProgramValue value;      // when there is no failure
  std::int64_t steps = 0;  // used
  bool ok() const { return failure == ProgramFailure::none; }
};

struct ProgramNode;  // of the syntax tree

class Program {
 public:
  // Whatever the text is: a program, or an error. No more than kMostBytes are read and kMostNesting
  // levels nest.
  static constexpr std::size_t kMostBytes = 4096;
  static constexpr int kMostNesting = 64;
  static Program parse(std::string_view text);

  bool ok() const { return error_.empty(); }
  const std::string& error() const {
    return error_;
  }  // "at byte 17: expected ':'"; empty when the text is a program
  // The names of a function's parameters; none when there is no such function.
  std::vector<std::string> parameters(std::string_view function) const;
  // Ends within the limits, whatever the program is. `name` is the failure when there is no such
  // function.
  ProgramOutcome run(std::string_view function, const std::vector<ProgramValue>& arguments,
                     const ProgramLimits& limits = {}) const;

 private:
  std::shared_ptr<const ProgramNode> root_;  // its children are the functions
  std::string error_ = "empty";
};

}  // namespace draftlab
