#include "plugins/tasks/problem_split.h"

#include "core/base/error.h"
#include "core/prob/chance.h"

namespace draftlab {

ProblemSplit problem_split_named(const std::string& name) {
  if (name == "train") return ProblemSplit::train;
  if (name == "tune") return ProblemSplit::tune;
  if (name == "test") return ProblemSplit::test;
  throw Fault("there is no split '{}'", name);
}

ProblemSplit problem_split_of(const std::string& question) {
  const std::uint64_t sixteenth = stable_hash(question) % 16;
  return sixteenth == 0   ? ProblemSplit::test
         : sixteenth == 1 ? ProblemSplit::tune
                          : ProblemSplit::train;
}

}  // namespace draftlab
