// The small language in which the task `programs` is answered: it has Python's words, `end` where
// Python indents, integers and lists of integers, and nothing else. White space only separates, so
// a program may be one line of text as well as many:
//   def f ( xs ) : t = 0 for x in xs : if x > 3 : t = t + x * 2 end end return t end
//
// The grammar is:
//   program    = function { function }                         the function asked for is `f`
//   function   = "def" name "(" [ name { "," name } ] ")" ":" block "end"
//   block      = { statement }
//   statement  = name "=" value | "return" value | "if" value ":" block [ "else" ":" block ] "end"
//              | "while" value ":" block "end" | "for" name "in" value ":" block "end"
//   value      = any of these, loosest first; those of a kind are read from left to right, but
//                comparisons do not chain:
//                or, and, not, comparison == != < <= > >= in, + -, * // %, sign -, list [ index ],
//                number, name, name ( values ), ( value ), [ values ]
//
// It follows Python: // and % round down, indices begin with 0 (negative ones are refused), `and`
// and `or` look at their right side only if need be, arguments are values, and a function sees its
// own variables. A truth value is 1 or 0. Lists never change; + joins two. The built-in functions
// are len sum sort reverse (of a list), abs (of an integer), min max (of a list, or of two integers
// and more), range (end) and range (first, end).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

using ProgramList = std::vector<std::int64_t>;

// An integer, or a list of integers.
struct ProgramValue {
  std::int64_t number = 0;
  // A null pointer stands for an integer.
  std::shared_ptr<const ProgramList> list;
  static ProgramValue of(std::int64_t number) { return {number, nullptr}; }
  static ProgramValue of(ProgramList list) {
    return {0, std::make_shared<const ProgramList>(std::move(list))};
  }
  bool operator==(const ProgramValue& other) const;
};
// Writes "3" or "[1, 2]".
std::string to_string(const ProgramValue& value);

// What one run may use. Elements of lists are counted when they are made and never given back, so
// no run holds more.
struct ProgramLimits {
  // Counts the nodes evaluated, and the elements looked at or made.
  std::int64_t steps = 20000;
  // Counts the elements of lists that are made.
  std::int64_t elements = 20000;
  // Counts calls and what nests in them, together.
  int depth = 400;
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
// Returns the name of a failure, such as "steps" or "memory".
std::string to_string(ProgramFailure failure);

struct ProgramOutcome {
  ProgramFailure failure = ProgramFailure::none;
  // The value that was returned, when there is no failure.
  ProgramValue value;
  // The steps that the run took.
  std::int64_t steps = 0;
  bool ok() const { return failure == ProgramFailure::none; }
};

struct ProgramNode;  // A node of the syntax tree.

class Program {
 public:
  // Reads any text: the result is a program, or an error. No more than kMostBytes are read, and no
  // more than kMostNesting levels may nest.
  static constexpr std::size_t kMostBytes = 4096;
  static constexpr int kMostNesting = 64;
  static Program parse(std::string_view text);

  bool ok() const { return error_.empty(); }
  // The error, such as "at byte 17: expected ':'"; empty when the text is a program.
  const std::string& error() const { return error_; }
  // Returns the names of a function's parameters, and none when there is no such function.
  std::vector<std::string> parameters(std::string_view function) const;
  // Runs a function. It ends within the limits, whatever the program is. The failure is `name` when
  // there is no such function.
  ProgramOutcome run(std::string_view function, const std::vector<ProgramValue>& arguments,
                     const ProgramLimits& limits = {}) const;

 private:
  std::shared_ptr<const ProgramNode> root_;  // The root's children are the functions.
  std::string error_ = "empty";
};

}  // namespace draftlab
