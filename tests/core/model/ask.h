// Asks a model one question.
#pragma once

#include "core/model/model.h"

namespace draftlab::testing {

inline Answer ask(Model& model, Sequence& sequence, const Question& question) {
  Answer answer;
  Pending pending{&sequence, &question, &answer};
  model.answer({&pending, 1});
  return answer;
}

}  // namespace draftlab::testing
