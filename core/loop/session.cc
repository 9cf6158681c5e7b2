#include "core/loop/session.h"

#include <algorithm>
#include <chrono>

#include "core/base/error.h"
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
  difference.kept_bytes = after.kept_bytes - before.kept_bytes;
  difference.rerun = after.rerun - before.rerun;
  return difference;
}

}  // namespace

Session::Cost::Cost(const Session& session)
    : target_(session.sequences_[0]->counts()),
      drafter_(session.sequences_.size() > 1 ? session.sequences_[1]->counts() : Counts{}),
      began_(now_ns()) {}

void Session::Cost::write(const Session& session, StepRow& row) const {
  row.counts = since(target_, session.sequences_[0]->counts());
  if (session.sequences_.size() > 1)
    row.drafter_counts = since(drafter_, session.sequences_[1]->counts());
  row.ns = now_ns() - began_;
}

Session::Session(const Arm& arm, const Models& models, const Prompt& prompt)
    : arm_(arm),
      models_(models),
      canvas_(prompt.length, prompt.given),
      blocks_(arm.decode.blocks(canvas_)),
      facts_(models.facts),
      began_(now_ns()) {
  check_models();
  facts_[0].stops.insert(facts_[0].stops.end(), prompt.ends.begin(), prompt.ends.end());
  if (arm.decode.end_confidence < 1 && facts_[0].stops.empty())
    throw ConfigError(
        "decode.end_confidence = {}: neither model '{}' nor the task has an end of text",
        arm.decode.end_confidence, facts_[0].family);
  row_.prompt_id = prompt.id;
  row_.length = prompt.length;
  row_.prompt_tokens = canvas_.prompt_size();
}

Session::~Session() = default;

void Session::open() {
  for (std::size_t i = 0; i < models_.models.size(); ++i)
    sequences_.push_back(
        in_name_of(models_.authors[i], [&] { return models_.models[i]->open(canvas_, blocks_); }));
  readings_.assign(sequences_.size(), Reading(canvas_.length()));
}

void Session::restart_if_contradicted() {
  const int model = mailbox_.model;
  if (facts_[model].rollback != Rollback::none) return;
  const Question& question = *mailbox_.question;
  if (branches(question))
    throw ConfigError(
        "{} drafts several tokens to follow one state, and model '{}' cannot go back to it (its "
        "rollback is none)",
        asker_.who->who(), models_.authors[model].name);
  if (!readings_[model].goes_on(canvas_, question))
    in_name_of(models_.authors[model], [&] { sequences_[model]->restart(); });
}

std::int64_t Session::nfe() const { return sequences_[0]->counts().nfe(); }

std::int32_t Session::end_of_text() const {
  const std::vector<Token>& stops = facts_.front().stops;
  if (stops.empty()) return -1;
  for (std::int32_t i = 0; i < canvas_.length() && !canvas_.masked(i); ++i) {
    if (!canvas_.given(i) && std::count(stops.begin(), stops.end(), canvas_.token(i))) return i;
  }
  return -1;
}

std::vector<Token> Session::text() const {
  std::vector<Token> tokens = canvas_.tokens();
  const std::int32_t end = arm_.decode.stop == StopRule::off ? -1 : end_of_text();
  if (end >= 0) std::fill(tokens.begin() + end + 1, tokens.end(), kNoToken);
  return tokens;
}

void Session::count_question() {
  if (++asker_.questions <= arm_.decode.questions) return;
  asker_.who->blame(
      "asks more than {} questions in step {}, which is decode.questions; it may ask for ever",
      arm_.decode.questions, clock_);
}

Asking<bool> Session::refresh() {
  for (std::size_t model = 0; model < sequences_.size(); ++model) {
    asks_now(models_.authors[model]);
    while (std::optional<Question> due = in_name_of(models_.authors[model], [&] {
             return models_.models[model]->due(*sequences_[model]);
           })) {
      Answer answer = co_await ask(std::move(*due), static_cast<int>(model));
      if (model == 0 && !answer.empty()) carry_ = Carry{std::move(answer), kRoot};
    }
  }
  co_return true;
}

SampleRow Session::finished() {
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
  return std::move(row_);
}

void Session::check_models() const {
  for (std::size_t i = 0; i < models_.models.size(); ++i)
    check_same(models_.authors[i], models_.facts[i], models_.models[i]->facts());
}

void answer_pending(const Models& models, std::span<Session* const> sessions) {
  check_stop();
  std::vector<Mailbox*> waiting;
  std::vector<Sequence*> sequences;
  for (Session* session : sessions) {
    Mailbox& box = session->mailbox();
    if (!box.question) continue;
    session->count_question();
    session->restart_if_contradicted();
    waiting.push_back(&box);
    sequences.push_back(&session->sequence(box.model));
  }
  if (waiting.empty()) throw Fault("a session waits for something other than an answer");

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
