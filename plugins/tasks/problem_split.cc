#include "plugins/tasks/problem_split.h"

#include "core/prob/chance.h"

namespace draftlab {

ProblemSplit problem_split_of(const std::string& question) {
  const std::uint64_t sixteenth = stable_hash(question) % 16;
  return sixteenth == 0   ? ProblemSplit::test
         : sixteenth == 1 ? ProblemSplit::tune
                          : ProblemSplit::train;
}

}  // namespace draftlab
