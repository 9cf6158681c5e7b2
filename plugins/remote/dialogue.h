// A dialogue with a generator in the other process, which yields what it wants done and goes on
// with the result. Draws are made here; a question to the model is handed to the caller, who awaits
// the answer.
#pragma once

#include <map>

#include "plugins/remote/remote.h"

namespace draftlab::remote {

class Dialogue {
 public:
  Dialogue(const Remote& remote, const Step& step, Scope& scope)
      : remote_(remote), step_(step), scope_(scope) {}
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;

  // `start` and `resume` go on until the method has returned, and then return false; or until it
  // waits for the answer to `question`, and then return true.
  bool start(const char* method, Message arguments);
  bool resume(Answer answer);
  // Runs a method that may not ask the model, and returns its result.
  const Message& finish(const char* method, Message arguments);

  // Returns the number of the target's distribution at a position of the committed state, as this
  // part was told it in this step, or the last step's answer says it; -1 where nobody told.
  int told(std::int32_t position);

  Question question;
  int model = 0;
  Message result;

 private:
  // Calls a method of the part, and adds up the seconds that it takes over this step.
  Message call(const char* method, Message arguments);
  bool follow(Message said);
  Json done(const Json& effect, const Message& said);

  const Remote& remote_;
  const Step& step_;
  Scope& scope_;
  std::uint64_t call_ = 0;
  std::int64_t effects_ = 0;
  double seconds_ = 0;
  std::map<std::int32_t, int> told_;
  bool open_ = false;
};

}  // namespace draftlab::remote
