// One sequence and the models that are asked about it: its canvas, what each model remembers of it,
// whose question waits for an answer, and the row that is recorded. Decoder (the loop) and Choice
// are the two ways to decode in a session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/author.h"
#include "core/loop/arm.h"
#include "core/loop/load_models.h"
#include "core/loop/reading.h"
#include "core/loop/rows.h"
#include "core/parts/asking.h"
#include "core/parts/task.h"

namespace draftlab {

// A session is used by one thread at a time, as are the models that it asks.
class Session {
 public:
  // References outlive the session.
  Session(const Arm& arm, const Models& models, const Prompt& prompt);
  virtual ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Decodes to the end and yields the finished row, in which the caller fills in texts, scores and
  // the judge's numbers. It is called once.
  virtual Asking<SampleRow> decode() = 0;

  const Canvas& canvas() const { return canvas_; }
  // Function evaluations of the target so far.
  std::int64_t nfe() const;
  // Every token up to the first generated end-of-text token. The positions behind it hold kNoToken,
  // and so do masked ones.
  std::vector<Token> text() const;
  const SampleRow& row() const { return row_; }

  // What answer_pending() reads: the question that waits, the memory of the model that it is for,
  // and a count of it. count_question() throws what names the asker, once a part has asked more in
  // one step than decode.questions allows.
  Mailbox& mailbox() { return mailbox_; }
  Sequence& sequence(int model) { return *sequences_[model]; }
  void count_question();
  // Restarts the model's memory where the question that waits contradicts what a model has read
  // that cannot go back.
  void restart_if_contradicted();

 protected:
  // What something costs from the moment at which this is made: evaluations of models, and time.
  class Cost {
   public:
    explicit Cost(const Session& session);
    void write(const Session& session, StepRow& row) const;

   private:
    Counts target_, drafter_;
    std::int64_t began_;
  };

  // Opens the models' memories of the sequence; the frontier has accepted the canvas. Throws
  // ConfigError when a model cannot hold it.
  void open();
  // The questions that follow are those of `who`, which outlives them.
  void asks_now(const Author& who) { asker_ = {&who, 0}; }
  // Suspends until the model (0: the target) has answered.
  Wait ask(Question question, int model = 0) { return {mailbox_, std::move(question), model}; }
  // Asks for the forwards that the models' caches need. What the target answers along with them is
  // the next step's carry.
  Asking<bool> refresh();
  // The first generated end-of-text token with no mask before it; -1 while there is none.
  std::int32_t end_of_text() const;
  // Returns the row with what is known at the end.
  SampleRow finished();

  const Arm& arm_;
  const Models& models_;
  Canvas canvas_;
  Blocks blocks_;
  std::vector<std::unique_ptr<Sequence>> sequences_;
  // What each model has read; only those of models that cannot go back are kept up to date.
  std::vector<Reading> readings_;
  Mailbox mailbox_;
  // What the models say of themselves; the stops of the target are also those of the prompt.
  std::vector<ModelFacts> facts_;
  std::optional<Carry> carry_;
  // The index of the step.
  std::uint32_t clock_ = 0;
  // The row of this sample, which grows by one StepRow a step.
  SampleRow row_;

 private:
  // Throws where a model is another than it was when it was loaded.
  void check_models() const;

  // Who asks now, and how many questions it has asked in this step.
  struct Asker {
    const Author* who = nullptr;
    std::int64_t questions = 0;
  } asker_;
  // The time at which decoding began, in nanoseconds: opening the models' memories is part of it.
  std::int64_t began_;
};

// Answers every pending question and resumes whoever asked. Questions of one model that are alike
// share one forward; all questions of a model share one where it mixes them. Every question of a
// session passes here. Throws Stopped where a stop was requested.
void answer_pending(const Models& models, std::span<Session* const> sessions);

// Runs one coroutine of one session to its end.
template <class T>
T drive(const Models& models, Session& session, Asking<T> work) {
  Session* const alone[] = {&session};
  work.start();
  while (!work.done()) answer_pending(models, alone);
  return work.take();
}

}  // namespace draftlab
