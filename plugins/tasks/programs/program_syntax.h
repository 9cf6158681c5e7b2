// The syntax tree of the small language (program_language.h): what the parser makes and the
// interpreter walks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace draftlab {

enum class ProgramForm {
  program,
  function,
  // The children of `program` are functions, that of `function` is one block, and those of `block`
  // are statements.
  block,
  set,
  give_back,
  test,
  repeat,
  each,  // These are =, return, if, while and for.
  either,
  both,
  negation,  // These are `or`, `and` and `not`.
  equal,
  unequal,
  less,
  at_most,
  greater,
  at_least,
  within,  // The last is `in`.
  plus,
  minus,
  times,
  divided,
  modulo,
  sign,
  index,
  number,
  variable,
  call,
  list
};

struct ProgramNode {
  ProgramForm form = ProgramForm::program;
  // The value of a number; the slot of the variable in variable, set and each; the number of slots
  // in function.
  std::int64_t number = 0;
  // The name in function and call.
  std::string name;
  // The parameters of a function have slots 0, 1, ...
  std::vector<std::string> parameters;
  std::vector<ProgramNode> children;
  // The levels of the tree from here down.
  int nesting = 1;

  void adopt(ProgramNode child) {
    nesting = std::max(nesting, child.nesting + 1);
    children.push_back(std::move(child));
  }
};

}  // namespace draftlab
