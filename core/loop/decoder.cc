#include "core/loop/decoder.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/stop_request.h"
#include "core/loop/contract.h"

namespace draftlab {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Counts since(const Counts& before, const Counts& after) {
  Counts difference;
  for (int kind = 0; kind < kKinds; ++kind) {
    difference.of[kind] = {after.of[kind].calls - before.of[kind].calls,
                           after.of[kind].rows - before.of[kind].rows,
                           after.of[kind].positions - before.of[kind].positions,
                           after.of[kind].ns - before.of[kind].ns};
  }
  difference.layers = after.layers - before.layers;
  return difference;
}

std::int64_t model_ns(const Counts& counts) {
  std::int64_t total = 0;
  for (const Count& count : counts.of) total += count.ns;
  return total;
}

}  // namespace

Decoder::Decoder(const Arm& arm, const Models& models, const Prompt& prompt, std::uint64_t sequence,
                 Chance& chance)
    : arm_(arm),
      models_(models),
      canvas_(prompt.length, prompt.given),
      blocks_(arm.decode.blocks(canvas_)),
      sequence_(sequence),
      chance_(chance),
      frontier_(arm.frontier.make()),
      drafter_(arm.drafter.make()),
      verifier_(arm.verifier.make()),
      acceptance_(arm.acceptance.make()),
      router_(arm.router.make()),
      estimator_(arm.estimator ? arm.estimator->make() : nullptr),
      unmasker_(arm.unmasker.make()),
      authors_(arm),
      length_(arm.decode, drafter_->reads_draft_length()),
      choices_(prompt.choices),
      began_(now_ns()) {
  check_models();
  facts_ = models_.facts;
  facts_[0].stops.insert(facts_[0].stops.end(), prompt.ends.begin(), prompt.ends.end());
  for (const auto& [name, estimator] : arm.attached) attached_.emplace_back(name, estimator.make());
  for (const auto& [part, author] : parts())
    if (part != verifier_.get() || verifies(arm))
      in_name_of(*author, [&] { part->begin(blocks_, arm.decode); });
  in_name_of(authors_.frontier, [&] {
    frontier_->check(canvas_);
    frontier_->arrange(canvas_, chance_, sequence_);
  });
  for (std::size_t i = 0; i < models_.models.size(); ++i)
    sequences_.push_back(
        in_name_of(models_.authors[i], [&] { return models_.models[i]->open(canvas_, blocks_); }));
  row_.prompt_id = prompt.id;
  row_.length = prompt.length;
  row_.prompt_tokens = canvas_.prompt_size();
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

std::int32_t Decoder::end_of_text() const {
  const std::vector<Token>& stops = facts_.front().stops;
  if (stops.empty()) return -1;
  for (std::int32_t i = 0; i < canvas_.length() && !canvas_.masked(i); ++i) {
    if (!canvas_.given(i) && std::count(stops.begin(), stops.end(), canvas_.token(i))) return i;
  }
  return -1;
}

std::vector<Token> Decoder::text() const {
  std::vector<Token> tokens = canvas_.tokens();
  const std::int32_t end = arm_.decode.stop == StopRule::off ? -1 : end_of_text();
  if (end >= 0) std::fill(tokens.begin() + end + 1, tokens.end(), kNoToken);
  return tokens;
}

std::int64_t Decoder::nfe() const { return sequences_[0]->counts().nfe(); }

std::string Decoder::state() const {
  std::string key = canvas_.key();
  if (carry_)
    key += "|carry " + std::to_string(carry_->node) + " " + std::to_string(carry_->unseen_commits) +
           " " + carry_->answer.key();
  for (const auto& [part, author] : parts())
    key += "|" + in_name_of(*author, [&] { return part->state(); });
  for (const auto& sequence : sequences_) key += "|" + sequence->state();
  key += "|" + length_.state();
  return key;
}

void Decoder::count_question() {
  if (++asker_.questions <= arm_.decode.questions) return;
  asker_.who->blame(
      "asks more than {} questions in step {}, which is decode.questions; it may ask for ever",
      arm_.decode.questions, clock_);
}

Asking<bool> Decoder::refresh() {
  for (std::size_t model = 0; model < sequences_.size(); ++model) {
    asks_now(models_.authors[model]);
    while (std::optional<Question> due = in_name_of(models_.authors[model], [&] {
             return models_.models[model]->due(*sequences_[model]);
           })) {
      const int index = static_cast<int>(model);
      Wait wait{mailbox_, std::move(*due), index};
      Answer answer = co_await wait;
      if (model == 0 && !answer.empty()) carry_ = Carry{std::move(answer), kRoot};
    }
  }
  co_return true;
}

Asking<bool> Decoder::choose() {
  const std::vector<std::int32_t> open = canvas_.masked_positions();
  const std::vector<Form> asked = verifier_->asks();
  if (std::find(asked.begin(), asked.end(), Form::chain) == asked.end())
    throw ConfigError(
        "a choice between texts asks for their probabilities in the causal view, as a verifier "
        "does that asks `chain`; verifier '{}' does not, so its model need not answer",
        arm_.verifier.name);
  Asking<bool> refreshed = refresh();
  co_await refreshed;
  asks_now(authors_.verifier);
  const std::int64_t began = now_ns();
  const Counts before = sequences_[0]->counts();
  Question question{
      .kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {{kRoot, {open.front()}}}};
  std::vector<std::vector<int>> paths;  // For each choice, the nodes at which its tokens are asked.
  for (const std::vector<Token>& choice : choices_) {
    if (choice.empty() || choice.size() > open.size())
      throw Fault("a choice of {} tokens for {} positions", choice.size(), open.size());
    std::vector<int>& path = paths.emplace_back(1, kRoot);
    for (std::size_t i = 0; i + 1 < choice.size(); ++i) {
      question.nodes.push_back({path.back(), open[i], choice[i]});
      path.push_back(static_cast<int>(question.nodes.size()) - 1);
      question.asks.push_back({path.back(), {open[i + 1]}});
    }
  }
  Wait wait{mailbox_, std::move(question), 0};
  const Answer answer = co_await wait;
  const auto log_probability = [&](std::size_t choice, std::size_t i) {
    return answer.at(paths[choice][i], open[i]).log_probability(choices_[choice][i]);
  };
  std::vector<double> sums(choices_.size(), 0.0);
  for (std::size_t c = 0; c < choices_.size(); ++c)
    for (std::size_t i = 0; i < choices_[c].size(); ++i) sums[c] += log_probability(c, i);
  const std::size_t best =
      static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());

  // What is recorded is a step that drafted the chosen text and accepted all of it.
  const auto count = static_cast<int>(choices_[best].size());
  const Window window{open, count};
  Proposal proposal;
  Verdict verdict;
  StepRow row;
  row.masked = static_cast<std::int32_t>(open.size());
  row.expected = kNotMeasured;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    proposal.nodes.push_back({i - 1, open[at], choices_[best][at]});
    verdict.commits.push_back({open[at], choices_[best][at]});
    verdict.judged.push_back({std::exp(log_probability(best, at)), 1, 1, true});
    canvas_.commit(open[at], choices_[best][at]);
  }
  record(window, proposal, DraftNumbers(proposal), Route{}, verdict, arm_.trace, row);
  row.counts = since(before, sequences_[0]->counts());
  row.ns = now_ns() - began;
  row_.steps.push_back(std::move(row));
  co_return true;
}

Asking<bool> Decoder::step() {
  if (done()) co_return false;
  if (clock_ == 0) {  // The prompt's forward belongs to the sample, not to a step.
    Asking<bool> refreshed = refresh();
    co_await refreshed;
  }
  const std::int64_t began = now_ns();
  const Counts target_before = sequences_[0]->counts();
  const Counts drafter_before = sequences_.size() > 1 ? sequences_[1]->counts() : Counts{};
  DecodeOptions decode = arm_.decode;
  decode.draft_length = length_.most();

  const Window window = opened();
  const Step step{.canvas = canvas_,
                  .window = window,
                  .blocks = blocks_,
                  .decode = decode,
                  .carry = carry_,
                  .chance = chance_,
                  .mailbox = mailbox_,
                  .sequence = sequence_,
                  .clock = clock_,
                  .vocabulary = facts_.front().vocabulary,
                  .target = *sequences_[0],
                  .frontier = frontier_.get(),
                  .unmasker = unmasker_.get(),
                  .length = &length_,
                  .models = facts_};
  asks_now(authors_.drafter);
  Proposal proposal = co_await proposed(step);
  step.readings(proposal);
  length_.cut(proposal);
  for (const Commit& edit : proposal.edits) canvas_.edit(edit.position, edit.token);

  StepRow row;
  row.step = static_cast<std::int32_t>(clock_);
  const DraftNumbers numbers(proposal);
  const StepView view = look(step, proposal, numbers);
  row.masked = view.masked;
  row.expected = view.expected;
  row.preview = view.preview;
  for (std::size_t i = 0; i < attached_.size(); ++i)
    row.estimates.emplace_back(attached_[i].first,
                               expected(authors_.attached[i], *attached_[i].second, view));

  // Drafts that are all the target's own draws need no decision: verifying them costs nothing.
  const bool undecided = proposal.exact < static_cast<int>(proposal.nodes.size());
  Route route{.verify = !proposal.nodes.empty()};
  if (undecided) route = routed(view);
  if (route.flip > 0) {
    const bool flipped =
        chance_.below(route.flip, step.site(window.positions.front(), Purpose::route));
    route.verify = route.verify != flipped;
    route.propensity = flipped ? route.flip : 1 - route.flip;
  }
  row.routed = undecided ? route.verify : -1;
  if (decode.shadow == Shadow::commit && undecided) route.verify = true;

  asks_now(authors_.verifier);
  Verdict verdict;
  std::vector<Judged> observed;
  if (route.verify) {
    verdict = co_await judged(step, proposal);
  } else if (!proposal.nodes.empty()) {
    if (decode.shadow == Shadow::observe) {
      const Counts counted = sequences_[0]->counts();
      const Verdict shadow = co_await judged(step, proposal);
      observed = shadow.judged;
      Model::uncount(*sequences_[0], counted);
    }
    verdict = chosen(step, proposal);
  }
  if (!proposal.nodes.empty()) verdict = topped_up(step, proposal, std::move(verdict));
  if (!observed.empty()) verdict.judged = std::move(observed);
  verdict.edits = proposal.edits;
  // A step of a schedule may commit nothing, but not one after which everything is as it was.
  const std::optional<std::string> idle =
      verdict.commits.empty() && !window.positions.empty() ? std::optional(state()) : std::nullopt;

  const std::int64_t in_blocks = decode.steps * (blocks_.index(canvas_.length() - 1) + 1);
  check_taken_back(authors_.unmasker, verdict, canvas_,
                   clock_ >= std::max<std::int64_t>(canvas_.length(), in_blocks));
  commit(proposal, verdict);
  verdict.proposal = &proposal;
  if (route.verify) length_.observe(proposal, verdict);
  for (const auto& [part, author] : parts()) {
    if (part != router_.get() || undecided)
      in_name_of(*author, [&] { part->observe(canvas_, route, verdict); });
  }
  verdict.proposal = nullptr;
  carry_ = std::move(verdict.carry);
  verdict.carry.reset();
  if (idle && state() == *idle)
    (route.verify ? authors_.verifier : authors_.unmasker)
        .blame("commits nothing in step {}, for which {} drafted {} tokens; decoding would not end",
               clock_, authors_.drafter.who(), proposal.nodes.size());
  settle();
  Asking<bool> refreshed = refresh();
  co_await refreshed;

  record(window, proposal, numbers, route, verdict, arm_.trace, row);
  row.counts = since(target_before, sequences_[0]->counts());
  if (sequences_.size() > 1) row.drafter_counts = since(drafter_before, sequences_[1]->counts());
  row.ns = now_ns() - began;
  row_.own_seconds +=
      1e-9 * static_cast<double>(row.ns - model_ns(row.counts) - model_ns(row.drafter_counts));
  row_.steps.push_back(std::move(row));
  verdict_ = std::move(verdict);
  ++clock_;
  co_return true;
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
      .sequence = sequence_,
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

Asking<SampleRow> Decoder::decode() {
  if (!choices_.empty()) {
    Asking<bool> chosen = choose();
    co_await chosen;
  } else {
    while (!done()) {
      Asking<bool> stepped = step();
      co_await stepped;
    }
  }
  row_.seconds = 1e-9 * static_cast<double>(now_ns() - began_);
  row_.generated = row_.valid = canvas_.committed();
  if (const std::int32_t end = end_of_text(); end >= 0) {
    row_.valid = 0;
    for (std::int32_t i = 0; i < end; ++i) row_.valid += !canvas_.given(i);
  }
  row_.counts = sequences_[0]->counts();
  if (sequences_.size() > 1) row_.drafter_counts = sequences_[1]->counts();
  check_models();
  row_.status = "done";
  row_.iterations = static_cast<std::int64_t>(row_.steps.size());
  co_return std::move(row_);
}

void answer_pending(const Models& models, std::span<Decoder* const> decoders) {
  check_stop();
  std::vector<Mailbox*> waiting;
  std::vector<Sequence*> sequences;
  for (Decoder* decoder : decoders) {
    Mailbox& box = decoder->mailbox();
    if (!box.question) continue;
    decoder->count_question();
    waiting.push_back(&box);
    sequences.push_back(&decoder->sequence(box.model));
  }
  if (waiting.empty()) throw Fault("a decoder waits for something other than an answer");

  std::vector<char> answered(waiting.size(), 0);
  for (std::size_t first = 0; first < waiting.size(); ++first) {
    if (answered[first]) continue;
    const Mailbox& like = *waiting[first];
    const bool mixes = models.models[like.model]->mixes();
    std::vector<Pending> batch;
    for (std::size_t i = first; i < waiting.size(); ++i) {
      const Mailbox& box = *waiting[i];
      if (answered[i] || box.model != like.model || !(mixes || box.question->alike(*like.question)))
        continue;
      batch.push_back({sequences[i], box.question, &waiting[i]->answer});
      answered[i] = 1;
    }
    const Author& author = models.authors[like.model];
    in_name_of(author, [&] { models.models[like.model]->answer(batch); });
    check_answers(author, batch, models.facts[like.model]);
  }
  for (Mailbox* box : waiting) {
    box->question = nullptr;
    box->waiting.resume();
  }
}

}  // namespace draftlab
