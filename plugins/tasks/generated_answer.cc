#include "plugins/tasks/generated_answer.h"

namespace draftlab {

std::vector<Token> generated_answer(const Canvas& canvas, Token end) {
  std::vector<Token> answer;
  for (std::int32_t position = 0; position < canvas.length(); ++position) {
    if (canvas.given(position) || canvas.masked(position)) continue;
    if (canvas.token(position) == end) break;
    answer.push_back(canvas.token(position));
  }
  return answer;
}

}  // namespace draftlab
