#include "core/loop/decoder.h"

#include <algorithm>
#include <optional>

#include "core/loop/contract.h"

namespace draftlab {
namespace {

std::int64_t model_ns(const Counts& counts) {
  std::int64_t total = 0;
  for (const Count& count : counts.of) total += count.ns;
  return total;
}

}  // namespace

Decoder::Decoder(const Arm& arm, const Models& models, const Prompt& prompt, Randomness random)
    : Session(arm, models, prompt),
      random_(random),
      frontier_(arm.frontier.make()),
      drafter_(arm.drafter.make()),
      verifier_(arm.verifier.make ? arm.verifier.make() : nullptr),
      acceptance_(arm.acceptance.make ? arm.acceptance.make() : nullptr),
      router_(arm.router.make()),
      estimator_(arm.estimator ? arm.estimator->make() : nullptr),
      unmasker_(arm.unmasker.make()),
      authors_(arm),
      length_(arm.decode, reads(*drafter_, DecodeKey::draft_length)) {
  for (const auto& [name, estimator] : arm.attached) attached_.emplace_back(name, estimator.make());
  parts_ = {{frontier_.get(), &authors_.frontier}, {drafter_.get(), &authors_.drafter},
            {verifier_.get(), &authors_.verifier}, {acceptance_.get(), &authors_.acceptance},
            {router_.get(), &authors_.router},     {estimator_.get(), &authors_.estimator},
            {unmasker_.get(), &authors_.unmasker}};
  for (std::size_t i = 0; i < attached_.size(); ++i)
    parts_.push_back({attached_[i].second.get(), &authors_.attached[i]});
  std::erase_if(parts_, [](const auto& named) { return !named.part; });
  for (const auto& named : parts_)
    if (named.part != verifier_.get() || verifies(arm))
      in_name_of(*named.author, [&] { named.part->begin(blocks_, arm.decode); });
  in_name_of(authors_.frontier, [&] {
    frontier_->check(canvas_);
    frontier_->arrange(canvas_, random_.chance, random_.sequence);
  });
  random_canvas_ = std::any_of(facts_.begin(), facts_.end(),
                               [](const ModelFacts& facts) { return facts.random_canvas; });
  check_canvas();
  renoise({}, 0);
  open();
}

Decoder::~Decoder() = default;

bool Decoder::done() const {
  if (in_name_of(authors_.frontier, [&] { return frontier_->done(canvas_); })) return true;
  if (arm_.decode.stop == StopRule::off) return false;
  const std::int32_t end = end_of_text();
  if (end < 0 || arm_.decode.stop == StopRule::token) return end >= 0;
  for (std::int32_t i = end; i < blocks_.end(end, canvas_.length()); ++i)
    if (canvas_.masked(i) || canvas_.tentative(i)) return false;
  return true;
}

std::string Decoder::state() const {
  std::string key = canvas_.key();
  if (carry_)
    key += "|carry " + std::to_string(carry_->node) + " " + std::to_string(carry_->unseen_commits) +
           " " + carry_->answer.key();
  for (const auto& named : parts_)
    key += "|" + in_name_of(*named.author, [&] { return named.part->state(); });
  for (const auto& sequence : sequences_) key += "|" + sequence->state();
  key += "|" + length_.state();
  if (unmasker_->shows() || arm_.decode.temperature_last >= 0)
    key += "|" + std::to_string(block_) + " " + std::to_string(made_);
  return key;
}

struct Decoder::Iteration {
  explicit Iteration(Decoder& of)
      : cost(of),
        decode(of.arm_.decode),
        window(of.opened()),
        step{.canvas = of.canvas_,
             .window = window,
             .blocks = of.blocks_,
             .decode = decode,
             .carry = of.carry_,
             .chance = of.random_.chance,
             .mailbox = of.mailbox_,
             .sequence = of.random_.sequence,
             .clock = of.clock_,
             .made = window.block == of.block_ ? of.made_ : 0,
             .vocabulary = of.facts_.front().vocabulary,
             .target = *of.sequences_[0],
             .frontier = of.frontier_.get(),
             .unmasker = of.unmasker_.get(),
             .length = &of.length_,
             .models = of.facts_} {
    decode.draft_length = of.length_.most();
    if (!window.positions.empty()) {
      const std::int32_t at = window.positions.front();
      decode.sampling.temperature = decode.temperature(
          step.made, of.blocks_.end(at, of.canvas_.length()) - of.blocks_.first(at));
    }
    row.step = static_cast<std::int32_t>(of.clock_);
  }

  const Cost cost;
  DecodeOptions decode;
  const Window window;
  const Step step;
  Proposal proposal;
  // What the drafted positions showed.
  std::vector<Token> shown;
  std::optional<DraftNumbers> numbers;
  // Whether some draft is not the target's own draw. Verifying those costs nothing, so there is
  // nothing to decide about them.
  bool undecided = false;
  Route route;
  Verdict verdict;
  StepRow row;
};

Asking<SampleRow> Decoder::decode() {
  while (!done()) co_await step();
  co_return finished();
}

Asking<bool> Decoder::step() {
  if (done()) co_return false;
  if (clock_ == 0)
    co_await refresh();  // The prompt's forward belongs to the sample, not to a step.
  Iteration now(*this);
  co_await propose(now);
  route(now);
  co_await judge_or_choose(now);
  co_await settle(now);
  record(now);
  co_return true;
}

Asking<bool> Decoder::propose(Iteration& now) {
  asks_now(authors_.drafter);
  now.proposal = co_await proposed(now.step);
  now.step.readings(now.proposal);
  length_.cut(now.proposal);
  for (const Commit& edit : now.proposal.edits) canvas_.edit(edit.position, edit.token);
  for (const Node& node : now.proposal.nodes) now.shown.push_back(canvas_.shown(node.position));
  now.numbers.emplace(now.proposal);
  now.undecided = now.proposal.exact < static_cast<int>(now.proposal.nodes.size());
  co_return true;
}

void Decoder::route(Iteration& now) {
  const StepView view = look(now.step, now.proposal, *now.numbers);
  now.row.masked = view.masked;
  now.row.expected = view.expected;
  now.row.preview = view.preview;
  for (std::size_t i = 0; i < attached_.size(); ++i)
    now.row.estimates.emplace_back(attached_[i].first,
                                   expected(authors_.attached[i], *attached_[i].second, view));

  now.route = {.verify = !now.proposal.nodes.empty()};
  if (now.undecided) now.route = routed(view);
  if (now.route.flip > 0) {
    const bool flipped = random_.chance.below(
        now.route.flip, now.step.site(now.window.positions.front(), Purpose::route));
    now.route.verify = now.route.verify != flipped;
    now.route.propensity = flipped ? now.route.flip : 1 - now.route.flip;
  }
  now.row.routed = now.undecided ? now.route.verify : -1;
  if (now.decode.shadow == Shadow::commit && now.undecided) now.route.verify = true;
}

Asking<bool> Decoder::judge_or_choose(Iteration& now) {
  asks_now(authors_.verifier);
  const bool drafted = !now.proposal.nodes.empty();
  std::vector<Judged> observed;
  if (now.route.verify) {
    now.verdict = co_await judged(now.step, now.proposal);
  } else if (drafted) {
    if (now.decode.shadow == Shadow::observe) {
      const Counts counted = sequences_[0]->counts();
      const Verdict shadow = co_await judged(now.step, now.proposal);
      observed = shadow.judged;
      Model::uncount(*sequences_[0], counted);
    }
    now.verdict = chosen(now.step, now.proposal);
  }
  if (drafted) now.verdict = topped_up(now.step, now.proposal, std::move(now.verdict));
  if (!observed.empty()) now.verdict.judged = std::move(observed);
  now.verdict.edits = now.proposal.edits;
  co_return true;
}

Asking<bool> Decoder::settle(Iteration& now) {
  // A step of a schedule may commit nothing, but not one after which everything is as it was.
  const std::optional<std::string> idle =
      now.verdict.commits.empty() && !now.window.positions.empty() ? std::optional(state())
                                                                   : std::nullopt;
  const std::int64_t in_blocks = now.decode.steps * (blocks_.index(canvas_.length() - 1) + 1);
  const bool late = clock_ >= std::max<std::int64_t>(canvas_.length(), in_blocks);
  check_taken_back(authors_.unmasker, now.verdict, canvas_, late);
  check_shown(authors_.unmasker, now.verdict, now.step, unmasker_->shows(), late);
  commit(now.proposal, now.verdict);
  now.verdict.proposal = &now.proposal;
  if (now.route.verify) length_.observe(now.proposal, now.verdict);
  for (const auto& named : parts_) {
    if (named.part != router_.get() || now.undecided)
      in_name_of(*named.author, [&] { named.part->observe(canvas_, now.route, now.verdict); });
  }
  now.verdict.proposal = nullptr;
  carry_ = std::move(now.verdict.carry);
  now.verdict.carry.reset();
  if (!now.window.positions.empty()) {
    made_ = now.step.made + 1;
    block_ = now.window.block;
  }
  if (idle && state() == *idle)
    (now.route.verify ? authors_.verifier : authors_.unmasker)
        .blame("commits nothing in step {}, for which {} drafted {} tokens; decoding would not end",
               clock_, authors_.drafter.who(), now.proposal.nodes.size());
  finish_settled();
  renoise(now.verdict, clock_ + 1);
  co_await refresh();
  co_return true;
}

void Decoder::record(Iteration& now) {
  draftlab::record({now.window, now.proposal, *now.numbers, now.route, now.verdict}, arm_.recording,
                   now.row);
  for (std::size_t i = 0; i < now.shown.size(); ++i) now.row.drafts[i].shown = now.shown[i];
  now.cost.write(*this, now.row);
  row_.own_seconds += 1e-9 * static_cast<double>(now.row.ns - model_ns(now.row.counts) -
                                                 model_ns(now.row.drafter_counts));
  row_.steps.push_back(std::move(now.row));
  verdict_ = std::move(now.verdict);
  ++clock_;
}

void Decoder::commit(const Proposal& proposal, Verdict& verdict) {
  const bool cuts = arm_.decode.stop == StopRule::token;
  std::size_t kept = 0;
  while (kept < verdict.commits.size()) {
    const Commit& commit = verdict.commits[kept++];
    canvas_.commit(commit.position, commit.token,
                   arm_.decode.edit_threshold < 1 || unmasker_->takes_back(), commit.value);
    if (cuts && end_of_text() >= 0) break;
  }
  if (kept == verdict.commits.size()) {
    for (const Commit& token : verdict.taken_back) canvas_.take_back(token.position);
    return;
  }
  verdict.taken_back.clear();  // The text has ended.
  verdict.commits.resize(kept);
  verdict.why = Stop::end_of_text;
  for (std::size_t i = 0; i < verdict.judged.size(); ++i)
    if (canvas_.masked(proposal.nodes[i].position)) verdict.judged[i].reached = false;
}

StepView Decoder::look(const Step& step, const Proposal& proposal,
                       const DraftNumbers& numbers) const {
  const int generated = canvas_.length() - canvas_.prompt_size();
  StepView view{
      .sequence = random_.sequence,
      .step = static_cast<int>(clock_),
      .length = canvas_.length(),
      .masked = generated - canvas_.committed(),
      .vocabulary = step.vocabulary,
      .progress = static_cast<double>(canvas_.committed()) / generated,
      .preview = preview(step, proposal),
      .confidence = numbers.confidence(),
      .margin = numbers.margin(),
      .entropy = numbers.entropy(),
      .renyi2 = numbers.renyi2(),
      .spread = numbers.spread(),
      .surprise = numbers.surprise(),
      .deviation = numbers.deviation(),
  };
  if (const std::vector<std::int32_t>& open = step.window.positions; !open.empty()) {
    const std::int32_t at = open.front();
    const auto within = [&](std::int32_t first, std::int32_t end) {
      StepView::Block block{blocks_.index(at), end - first, 0, 0};
      for (std::int32_t i = first; i < end; ++i) {
        block.given += canvas_.given(i);
        block.masked += canvas_.masked(i);
      }
      return block;
    };
    view.span = {at, step.window.span};
    view.block = within(blocks_.first(at), blocks_.end(at, canvas_.length()));
    view.sub_block = within(blocks_.part_first(at), blocks_.part_end(at, canvas_.length()));
  }
  if (estimator_) view.expected = expected(authors_.estimator, *estimator_, view);
  return view;
}

}  // namespace draftlab
