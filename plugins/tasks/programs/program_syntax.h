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
  block,  // children: functions; one block; statements
  set,
  give_back,
  test,
  repeat,
  each,  // =, return, if, while, for
  either,
  both,
  negation,  // or, and, not
  equal,
  unequal,
  less,
  at_most,
  greater,
  at_least,
  within,  // within: `in`
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
  std::int64_t number =
      0;  // number: its value; variable, set, each: the variable's slot; function: how many slots
  std::string name;                     // function, call
  std::vector<std::string> parameters;  // function: slots 0, 1, ...
  std::vector<ProgramNode> children;
  int nesting = 1;  // levels of the tree from here down

  void adopt(ProgramNode child) {
    nesting = std::max(nesting, child.nesting + 1);
    children.push_back(std::move(child));
  }
};

}  // namespace draftlab
