// The seams of the loop: what a frontier, a drafter, a verifier, an acceptance rule, a router, an
// estimator and an unmasker see, and what they return. Data flows one way through a step:
//   window -> proposal -> route -> verdict -> canvas.
//
// The methods that decide are const: a part changes only in `observe`, after a step was committed.
// A part that overrides `observe` must override `state` too (checked when it is registered),
// because `certify` merges equal states.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/parts/asking.h"
#include "core/parts/blocks.h"
#include "core/parts/canvas.h"
#include "core/parts/model.h"
#include "core/parts/question.h"
#include "core/prob/chance.h"

namespace draftlab {

class Frontier;
class OptionSet;
class Unmasker;

// The positions a step may fill, in the order in which they are to be committed.
struct Window {
  std::vector<std::int32_t> positions;  // empty in a step that can only edit
  int span = 0;                         // leading positions that a chain may judge
  Stop boundary = Stop::complete;       // why a fully accepted span ends where it does
  int block = 0;                        // index of the block; 0 where there are none
  bool holds(std::int32_t position) const {
    return std::find(positions.begin(), positions.end(), position) != positions.end();
  }
};

struct Commit {
  std::int32_t position = 0;
  Token token = kNoToken;
  Source source = Source::accepted;
  Eigen::VectorXd value = {};  // of a vector token
  std::vector<Eigen::VectorXd> path =
      {};  // its states y_K, ..., y_1 under the target, where they are known
};
// A node in place.
inline Commit commit_of(const Node& node, Source source) {
  return {node.position, node.token, source, node.value};
}

// Drafted tokens as a tree over the committed state (usually one path), each with the distribution
// it was drawn from, after temperature, top-k and top-p. `drawn_from` is empty when every draft is
// a point mass.
struct Proposal {
  std::vector<Node> nodes;
  std::vector<Distribution> drawn_from;
  std::vector<Distribution>
      raw;  // the drafter's own answer at temperature 1, where it has one: what estimators read
  int exact =
      0;  // leading drafts that are the target's own draws and need no test (Lemma 1 of ASSD)
  int foresight = 0;  // positions from the next on that a verifier asks at every node, for the next
                      // step's carry
  std::vector<Commit> edits =
      {};  // of tentative positions, made before anything is judged (token editing of LLaDA2.1)
  Answer pass = {};  // what the drafter asked at the committed state for this step; empty: nothing
  std::vector<Trajectory> trajectories =
      {};  // of vector tokens, aligned with the nodes: how each was drawn
};

// What became of one drafted node. NaN where nothing was measured.
struct Judged {
  double target = 0;  // probability of the drafted token under the target, as drawn
  double drawn = 0;   // probability under the distribution it was drawn from
  double accept = 0;  // acceptance probability; 1 for exact drafts
  bool accepted = false;
  bool reached = true;  // false: where the walk did not go (beyond a rejection, in shadow mode; or
                        // behind the end of a text)
  // Of a vector token, instead of the first two: log densities of what is judged, and how its
  // replacement was found.
  double log_target = std::numeric_limits<double>::quiet_NaN(),
         log_drawn = std::numeric_limits<double>::quiet_NaN();
  int proposals = 0;    // draws of the target until one replaced it
  bool capped = false;  // the last was taken because there were too many
};

struct Verdict {
  std::vector<Commit> commits;
  std::vector<Commit> edits;  // those of the proposal
  Stop why = Stop::complete;
  std::optional<Carry> carry;
  std::vector<Judged> judged;  // aligned with the proposal's nodes; shorter when the walk stopped
                               // early and no shadow went on
};

struct Route {
  bool verify = true;
  double score = 0;       // NaN when the router computes none
  double propensity = 1;  // probability with which this decision was taken
  double flip =
      0;  // the loop reverses the decision with this probability, and then says so in `propensity`
  int context = 0;  // for the router itself, in `observe`: where what it learns belongs
};

// What is declared once because several parts read it: config section `decode`.
struct DecodeOptions {
  Sampling sampling;
  std::int64_t draft_length = 5;  // k of the papers
  std::int64_t block_size = 0;    // B; 0: the whole canvas is one block
  std::int64_t sub_block =
      0;  // blocks are decoded in parts of so many positions, left to right; 0: whole
  std::string align =
      "position";          // where blocks begin: at multiples of B, or at the end of the prompt
  double threshold = 0.9;  // tau: a draft of at least this raw probability is a confident one
  std::int64_t steps =
      0;  // S: steps a block, hence the quota of each; 0: as many as it has positions
  double edit_threshold = 1;    // tau_edit: a tentative token is replaced by one more probable than
                                // this; 1: nothing is edited
  std::int64_t post_steps = 0;  // steps that may still edit a block without masks
  std::string stop =
      "block";  // after an end-of-text token: off (go on), token, block (finish its block)
  std::string shadow =
      "off";  // commit, observe: verify at every step, and commit that or what was routed
  Blocks blocks(const Canvas& canvas) const;
  void declare(OptionSet& set);  // core/config/composition.cc
};

// One step as a part sees it. References outlive the step.
class Step {
 public:
  const Canvas& canvas;
  const Window& window;
  const Blocks& blocks;
  const DecodeOptions& decode;
  const std::optional<Carry>& carry;
  Chance& chance;
  Mailbox& mailbox;
  std::uint64_t sequence;
  std::uint32_t clock;  // step index
  int vocabulary;
  Sequence& target;  // the target's memory of this sequence
  const Frontier* frontier =
      nullptr;  // of the arm, for what asks about hypothetical states; null in a step made by hand
  const Unmasker* unmasker = nullptr;  // likewise
  std::span<const ModelFacts> models =
      {};  // of the target and, where there is one, the draft model

  Site site(std::int32_t position, Purpose purpose, std::uint32_t attempt = 0) const {
    return {sequence, position, purpose, clock, attempt};
  }
  // Suspends until the model (0: the target) has answered.
  Wait ask(Question question, int model = 0) const { return {mailbox, std::move(question), model}; }
  Distribution drawn(const Distribution& raw) const { return shaped(raw, decode.sampling); }
  Mixture drawn(Mixture raw, int model = 0) const;  // DataError for a law that is none
  // Counts an evaluation that needs no forward.
  void aux() const { Model::count_aux(target); }

  // The rule of stepwise decoding, for whoever applies it to a hypothetical state on top of the
  // committed one.
  //
  // The address of a position's draw in `state`: by how much is committed there. Whoever arrives at
  // the state, in whatever step, draws the same number.
  Site choice(const Canvas& state, std::int32_t position) const;
  // What stepwise decoding commits in `state`: the unmasker's choice among drafts of the positions
  // that the frontier opens there, of which `answer` holds the distributions at `node`, and `draft`
  // names the tokens.
  std::vector<Commit> stepwise(const Canvas& state, const Answer& answer, int node,
                               const std::function<Token(std::int32_t)>& draft) const;
  // The same of tokens drawn for this state.
  std::vector<Commit> stepwise(const Canvas& state, const Answer& answer, int node) const;
  // Masked positions of `state` in the order in which the frontier opens them, whole windows: at
  // least `count`, where so many are left.
  std::vector<std::int32_t> ahead(const Canvas& state, std::int64_t count) const;
};

// What a router or estimator may see: numbers of the drafted span, never tensors. Arrays are
// aligned with the proposal.
struct StepView {
  std::uint64_t sequence = 0;  // of the decode's random sites
  struct Span {
    std::int32_t first = 0;
    int length = 0;
  } span;
  struct Block {
    int index = 0, size = 0, given = 0, masked = 0;
  } block;  // positions of the current one
  int step = 0;
  int length = 0;  // of the canvas
  int masked = 0;  // positions left
  int vocabulary = 0;
  double progress = 0;  // share of the generated positions that is committed, in [0, 1]
  int preview = 0;  // confident drafts, which the unmasker would commit without verification (N_hi)
  Eigen::Map<const Eigen::ArrayXd> confidence{nullptr, 0};  // raw probability of the drafted token
  Eigen::Map<const Eigen::ArrayXd> margin{nullptr, 0};
  Eigen::Map<const Eigen::ArrayXd> entropy{nullptr, 0};  // nats
  Eigen::Map<const Eigen::ArrayXd> renyi2{nullptr, 0};
  double expected = 0;  // accepted prefix that the chosen estimator expects; NaN without one

  // Drafts of the span: the leading ones of each array.
  Eigen::Index drafts() const { return std::min<Eigen::Index>(span.length, entropy.size()); }
};

// Common to all parts: which questions it asks (a model that cannot answer one is refused before
// anything runs), and the state that `certify` compares.
class Part {
 public:
  virtual ~Part() = default;
  virtual std::vector<Form> asks() const { return {}; }
  // Called once, before anything else: how the canvas is cut, and what every part reads.
  virtual void begin(const Blocks&, const DecodeOptions&) {}
  virtual std::string state() const { return {}; }
  virtual void observe(const Canvas&, const Route&, const Verdict&) {}
};

class Frontier : public Part {
 public:
  // ConfigError when this order cannot decode such a prompt.
  virtual void check(const Canvas&) const {}
  // Called once, after it: a random order is drawn now, at sites of Purpose::arrange, and is part
  // of the state.
  virtual void arrange(const Canvas&, Chance&, std::uint64_t /*sequence*/) {}
  virtual bool done(const Canvas& canvas) const = 0;
  virtual Window next(const Canvas& canvas) const = 0;
  // Tentative positions that nothing will edit any more.
  virtual std::vector<std::int32_t> settled(const Canvas&) const { return {}; }
};

class Drafter : public Part {
 public:
  // Whether decode.draft_length means anything to it: where it does not, arms that differ in it
  // alone are one arm.
  virtual bool reads_draft_length() const { return true; }
  // Questions it asks the draft model (`model.draft`, index 1); a config that names none is refused
  // where there are any.
  virtual std::vector<Form> asks_draft_model() const { return {}; }
  virtual Asking<Proposal> propose(const Step& step) const = 0;
};

// A drafted token under judgement.
struct Trial {
  Token token = kNoToken;
  const Distribution&
      target;  // as drawn; where siblings were rejected before it, what they left of it
  const Distribution* drawn_from = nullptr;  // nullptr: a point mass at `token`
  int depth = 0;                             // 0 for the first draft of the step
  const Distribution& raw = target;          // the model's own answer, at temperature 1
};

class Acceptance : public Part {
 public:
  virtual double probability(const Trial& trial) const = 0;
  // What replaces a rejected token; empty: nothing does.
  virtual Distribution replacement(const Trial& trial) const = 0;
  // The same for vector tokens, from log densities under the target and of what was drawn from; a
  // rule that judges none is refused where tokens are vectors. What replaces a rejected token is
  // found among draws of the target: `replaces` is the probability with which one is taken.
  virtual bool judges_densities() const { return false; }
  virtual double probability(double log_target, double log_drawn) const;
  virtual double replaces(double log_target, double log_drawn) const;
};

class Verifier : public Part {
 public:
  virtual Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                                const Acceptance& acceptance) const = 0;
};

class Router : public Part {
 public:
  // Whether it reads StepView::expected; a config that then names no estimator is refused.
  virtual bool reads_expected() const { return false; }
  virtual Route decide(const StepView& step) const = 0;
};

class Estimator : public Part {
 public:
  // Expected number of accepted drafts of the span.
  virtual double expected(const StepView& step) const = 0;
};

// One that guesses for each draft of the span how probably it is accepted, given that those before
// it were.
class TokenEstimator : public Estimator {
 public:
  virtual Eigen::ArrayXd alpha(const StepView& step) const = 0;  // step.drafts() of them, in [0, 1]
  double expected(const StepView& step) const final;             // K-hat of S2D2's Eq. 5
};

class Unmasker : public Part {
 public:
  // What is committed without verification: at least one token, unless this step of a schedule has
  // none (then observe() must change the unmasker's state). `step.canvas` may be a hypothetical
  // state.
  virtual Verdict choose(const Step& step, const Proposal& proposal) const = 0;
  // N_hi: how many drafts are so confident that `choose` would commit them; what its quota alone
  // makes it commit does not count.
  virtual int preview(const Step& step, const Proposal& proposal) const = 0;
  // Completes a verdict that fell short (quotas, empty verdicts).
  virtual Verdict top_up(const Step& step, const Proposal& proposal, Verdict verdict) const;
};

}  // namespace draftlab
