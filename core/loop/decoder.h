// The loop: it decodes one sequence, from a prompt to a finished canvas (core/README.md draws it).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/author.h"
#include "core/config/arm.h"
#include "core/loop/load_models.h"
#include "core/loop/record.h"
#include "core/parts/acceptance.h"
#include "core/parts/draft_length.h"
#include "core/parts/drafter.h"
#include "core/parts/estimator.h"
#include "core/parts/frontier.h"
#include "core/parts/router.h"
#include "core/parts/step.h"
#include "core/parts/step_view.h"
#include "core/parts/task.h"
#include "core/parts/unmasker.h"
#include "core/parts/verifier.h"
#include "core/trace/rows.h"

namespace draftlab {

class Decoder {
 public:
  // References outlive the decoder. `sequence` addresses its random sites. Throws ConfigError when
  // the frontier cannot decode such a prompt or the model cannot hold it.
  Decoder(const Arm& arm, const Models& models, const Prompt& prompt, std::uint64_t sequence,
          Chance& chance);
  ~Decoder();

  bool done() const;
  // Decodes one step. Yields false when nothing was left to do.
  Asking<bool> step();
  // Decodes all steps and yields the finished row, in which the caller fills in texts, scores and
  // the judge's numbers.
  Asking<SampleRow> decode();

  const Canvas& canvas() const { return canvas_; }
  // A text that describes the state: canvas, carry and what the parts have learnt. Equal states
  // have equal futures.
  std::string state() const;
  // Function evaluations of the target so far.
  std::int64_t nfe() const;
  // The verdict of the last step.
  const Verdict& verdict() const { return verdict_; }
  // Every token up to the first generated end-of-text token. The positions behind it hold kNoToken,
  // and so do masked ones.
  std::vector<Token> text() const;
  Mailbox& mailbox() { return mailbox_; }
  Sequence& sequence(int model) { return *sequences_[model]; }
  // Counts the question that waits. Throws a Fault that names who asks it, once a part has asked
  // more in one step than decode.questions allows.
  void count_question();
  const SampleRow& row() const { return row_; }

 private:
  const Arm& arm_;
  const Models& models_;
  Canvas canvas_;
  Blocks blocks_;
  std::vector<std::unique_ptr<Sequence>> sequences_;
  std::uint64_t sequence_;
  Chance& chance_;
  Mailbox mailbox_;
  // Who asks now, and how many questions it has asked in this step.
  struct Asker {
    const Author* who = nullptr;
    std::int64_t questions = 0;
  } asker_;
  std::unique_ptr<Frontier> frontier_;
  std::unique_ptr<Drafter> drafter_;
  std::unique_ptr<Verifier> verifier_;
  std::unique_ptr<Acceptance> acceptance_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<Estimator> estimator_;
  std::vector<std::pair<std::string, std::unique_ptr<Estimator>>> attached_;
  std::unique_ptr<Unmasker> unmasker_;
  // How sentences name the parts.
  struct Authors {
    explicit Authors(const Arm& arm);
    Author frontier, drafter, verifier, acceptance, router, unmasker, estimator;
    std::vector<Author> attached;
  };
  Authors authors_;
  DraftLength length_;
  std::vector<ModelFacts> facts_;
  // The choices of the prompt.
  std::vector<std::vector<Token>> choices_;
  // The time at which decoding began, in nanoseconds: opening the sequences' caches is part of
  // decoding.
  std::int64_t began_;
  std::optional<Carry> carry_;
  std::uint32_t clock_ = 0;
  Verdict verdict_;
  // The row of this sample, which grows by one StepRow a step.
  SampleRow row_;

  // The parts that learn, and their names.
  using NamedPart = std::pair<Part*, const Author*>;
  std::array<NamedPart, 6> parts() const;
  // These call the parts, and check what they return before anybody reads it.
  Window opened() const;
  Asking<Proposal> proposed(const Step& step) const;
  Route routed(const StepView& view) const;
  Asking<Verdict> judged(const Step& step, const Proposal& proposal) const;
  Verdict chosen(const Step& step, const Proposal& proposal) const;
  Verdict topped_up(const Step& step, const Proposal& proposal, Verdict verdict) const;
  void settle();
  int preview(const Step& step, const Proposal& proposal) const;
  static double expected(const Author& author, const Estimator& estimator, const StepView& view);
  // Throws where a model is another than it was when it was loaded.
  void check_models() const;
  // The first generated end-of-text token with no mask before it; -1 while there is none.
  std::int32_t end_of_text() const;
  // Commits the most probable of the prompt's choices. One question asks a path for each, hence it
  // costs one function evaluation.
  Asking<bool> choose();
  // Writes a verdict onto the canvas. With decode.stop = token, what the verdict has behind an
  // end-of-text token is dropped.
  void commit(const Proposal& proposal, Verdict& verdict);
  // Asks for the forwards that the models' caches need. What the target answers along with them is
  // the next step's carry.
  Asking<bool> refresh();

  // The questions that follow are those of a part, or of the models themselves.
  void asks_now(const Author& who) { asker_ = {&who, 0}; }

  // What routers and estimators see of the proposal.
  StepView look(const Step& step, const Proposal& proposal, const DraftNumbers& numbers) const;
};

// Answers every pending question and resumes whoever asked. Questions of one model that are alike
// share one forward; all questions of a model share one where it mixes them. Every question of a
// decoder passes here. Throws Stopped where a stop was requested.
void answer_pending(const Models& models, std::span<Decoder* const> decoders);

// Runs one coroutine of one decoder to its end.
template <class T>
T drive(const Models& models, Decoder& decoder, Asking<T> work) {
  Decoder* const alone[] = {&decoder};
  work.start();
  while (!work.done()) answer_pending(models, alone);
  return work.take();
}

}  // namespace draftlab
