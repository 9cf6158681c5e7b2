// The loop: it decodes one sequence, from a prompt to a finished canvas (core/README.md draws it).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/loop/record.h"
#include "core/loop/session.h"
#include "core/parts/draft_length.h"
#include "core/parts/step.h"

namespace draftlab {

// Where the random numbers of a sequence come from, and the number that its sites have.
struct Randomness {
  Chance& chance;
  std::uint64_t sequence = 0;
};

class Decoder final : public Session {
 public:
  // References outlive the decoder. Throws ConfigError when the frontier cannot decode such a
  // prompt or the model cannot hold it.
  Decoder(const Arm& arm, const Models& models, const Prompt& prompt, Randomness random);
  ~Decoder() override;

  bool done() const;
  // Decodes one step. Yields false when nothing was left to do.
  Asking<bool> step();
  Asking<SampleRow> decode() override;

  // A text that describes the state: canvas, carry and what the parts have learnt. Equal states
  // have equal futures.
  std::string state() const;
  // The verdict of the last step.
  const Verdict& verdict() const { return verdict_; }

 private:
  Randomness random_;
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
  // Whether a model reads a random canvas.
  bool random_canvas_ = false;
  // How many steps were made in which block.
  std::int64_t made_ = 0;
  int block_ = 0;
  // The parts that learn, and their names.
  struct Named {
    Part* part;
    const Author* author;
  };
  std::vector<Named> parts_;
  Verdict verdict_;

  // What one step knows, from its window to its verdict.
  struct Iteration;
  // A step is these five, in this order.
  //
  // Asks for drafts of the window.
  Asking<bool> propose(Iteration& now);
  // Decides whether the drafts are worth a verification.
  void route(Iteration& now);
  // Asks the verifier what is committed, or the unmasker where nothing is verified.
  Asking<bool> judge_or_choose(Iteration& now);
  // Commits the verdict, lets the parts learn from it, and brings the models' caches up to date.
  Asking<bool> settle(Iteration& now);
  // Adds the step to the row.
  void record(Iteration& now);

  // These call the parts, and check what they return before anybody reads it.
  Window opened() const;
  Asking<Proposal> proposed(const Step& step) const;
  Route routed(const StepView& view) const;
  Asking<Verdict> judged(const Step& step, const Proposal& proposal) const;
  Verdict chosen(const Step& step, const Proposal& proposal) const;
  Verdict topped_up(const Step& step, const Proposal& proposal, Verdict verdict) const;
  void finish_settled();
  // Refuses an unmasker that shows tokens which no model would read.
  void check_canvas() const;
  // Draws what each masked position shows in step `clock`, but where the verdict says it.
  void renoise(const Verdict& verdict, std::uint32_t clock);
  int preview(const Step& step, const Proposal& proposal) const;
  static double expected(const Author& author, const Estimator& estimator, const StepView& view);
  // Writes a verdict onto the canvas. With decode.stop = token, what the verdict has behind an
  // end-of-text token is dropped.
  void commit(const Proposal& proposal, Verdict& verdict);
  // What routers and estimators see of the proposal.
  StepView look(const Step& step, const Proposal& proposal, const DraftNumbers& numbers) const;
};

}  // namespace draftlab
