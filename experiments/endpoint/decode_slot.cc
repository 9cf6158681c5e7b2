#include "experiments/endpoint/decode_slot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/loop/choice.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {
namespace {

// How many tokens before a token decide how it is spelled.
constexpr std::size_t kSpelledAfter = 4;

std::string conversation(const std::vector<ChatMessage>& messages, Chat format,
                         const Tokenizer& tokenizer) {
  if (format == Chat::plain) {
    std::string text;
    for (const ChatMessage& message : messages)
      text += (text.empty() ? "" : "\n\n") + message.content;
    return text;
  }
  QuestionFileOptions options;
  options.chat = format;
  std::vector<Turn> turns;
  for (const ChatMessage& message : messages) {
    if (message.role == "system")
      options.system = message.content;
    else if (message.role == "user")
      turns.push_back({message.content, ""});
    else
      turns.back().answer = message.content;
  }
  const std::string question = turns.back().question;
  turns.pop_back();
  return prompt_text(options, tokenizer, turns, question);
}

// A prompt of tokens that stand as they are given.
Prompt prompt_of(const std::vector<Token>& tokens, std::int64_t longest, const LoadedArm& arm) {
  const int vocabulary = arm.models.target().facts().vocabulary;
  Prompt prompt;
  for (const Token token : tokens) {
    if (token >= vocabulary)
      throw Refusal(400,
                    fmt::format("'prompt' has token {}, and the model knows {}", token, vocabulary),
                    "prompt");
    prompt.given.emplace_back(static_cast<std::int32_t>(prompt.given.size()), token);
  }
  prompt.offset = static_cast<int>(tokens.size());
  prompt.length = prompt.offset + static_cast<int>(longest);
  if (arm.tokenizer) prompt.ends = arm.tokenizer->ends();
  prompt.id = prompt_id("chat", prompt);
  return prompt;
}

Prompt task_prompt(const TaskPrompt& wanted, const LoadedArm& arm) {
  if (wanted.index >= arm.task->size())
    throw Refusal(400,
                  fmt::format("'draftlab' asks for prompt {}, and the config's task has {}",
                              wanted.index, arm.task->size()),
                  "draftlab");
  return arm.task->prompt(static_cast<int>(wanted.index));
}

const Opening& opening_of(const AnswerToDecode& answer) {
  return answer.wanted->openings[static_cast<std::size_t>(answer.index / answer.wanted->answers)];
}

Prompt open_prompt(const AnswerToDecode& answer, const LoadedArm& arm, Chat format) {
  const Wanted& wanted = *answer.wanted;
  const Opening& opening = opening_of(answer);
  if (const auto* own = std::get_if<TaskPrompt>(&opening)) return task_prompt(*own, arm);
  if (const auto* tokens = std::get_if<std::vector<Token>>(&opening))
    return prompt_of(*tokens, wanted.tokens, arm);
  if (!arm.tokenizer)
    throw Refusal(400, "the config's model has no tokenizer, so 'prompt' is to be a list of tokens",
                  "prompt");
  const auto* messages = std::get_if<std::vector<ChatMessage>>(&opening);
  const std::string text =
      messages ? conversation(*messages, format, *arm.tokenizer) : std::get<std::string>(opening);
  Prompt prompt = question_prompt({"chat", text, ""}, {wanted.tokens, true}, *arm.tokenizer);
  prompt.reference.clear();  // Nobody knows what stood there.
  return prompt;
}

// The address of an answer's random numbers: with a seed that of the same sample of `run`.
std::uint64_t sequence_of(const AnswerToDecode& answer, const Prompt& prompt) {
  const Wanted& wanted = *answer.wanted;
  const auto* const own = std::get_if<TaskPrompt>(&opening_of(answer));
  const std::int64_t sample = answer.index % wanted.answers + (own ? own->sample : 0);
  std::string address = prompt.id + "/" + std::to_string(sample);
  if (!wanted.seed && !own) address += "/" + std::to_string(answer.request);
  return stable_hash(address);
}

std::uint64_t seed_of(const AnswerToDecode& answer, const LoadedArm& arm) {
  return answer.wanted->seed.value_or(static_cast<std::uint64_t>(arm.composition.run.seed));
}

// What the config says of an opening is the request's to mend.
template <class Act>
auto refused(const Act& act) {
  try {
    return act();
  } catch (const ConfigError& error) {
    throw Refusal(400, error.what());
  } catch (const DataError& error) {
    throw Refusal(400, error.what());
  }
}

}  // namespace

DecodeSlot::DecodeSlot(AnswerToDecode answer, ShapedArms& arms, Chat format)
    : answer_(std::move(answer)),
      arm_(arms.of(*answer_.wanted)),
      revises_(std::holds_alternative<TaskPrompt>(opening_of(answer_)) ||
               arm_->composition.unmasker.make()->takes_back() ||
               arm_->composition.decode.edit_threshold < 1),
      prompt_(refused([&] { return open_prompt(answer_, *arm_, format); })),
      chance_(seed_of(answer_, *arm_)),
      stream_(answer_.wanted->stops),
      began_(std::chrono::steady_clock::now()) {
  made_.index = answer_.index;
  if (answer_.wanted->ignore_end) prompt_.ends.clear();
  if (prompt_.given.size() == static_cast<std::size_t>(prompt_.length)) {  // Only an echo.
    made_.numbers.prompt_tokens = static_cast<std::int64_t>(prompt_.given.size());
    finish(false);
    return;
  }
  session_ = refused([&] {
    return session_of(arm_->composition, arm_->models, prompt_,
                      {chance_, sequence_of(answer_, prompt_)});
  });
  work_.emplace(session_->decode());
  work_->start();
}

Session* DecodeSlot::waiting() const {
  if (over()) return nullptr;
  if (scoring_) return scoring_->work->done() ? nullptr : scoring_->session.get();
  return work_->done() ? nullptr : session_.get();
}

void DecodeSlot::advance() {
  if (whole_) return;
  if (scoring_) {
    if (scoring_->work->done()) take_scores();
    return;
  }
  const bool done = work_->done();
  const std::size_t steps = session_->row().steps.size();
  if (!done && (steps == steps_seen_ || revises_)) return;
  steps_seen_ = steps;
  if (done) made_.numbers = numbers(work_->take());
  bool ended = false;
  tokens_ = settled(ended);
  // What a task decodes has the text that its trace has.
  const bool own = std::holds_alternative<TaskPrompt>(opening_of(answer_));
  std::string text = own ? arm_->task->text(prompt_, session_->canvas()) : "";
  if (text.empty()) text = text_of({tokens_.begin(), tokens_.end() - (ended ? 1 : 0)});
  std::string piece = stream_.grow(text, done || ended);
  if (answer_.wanted->stream && !piece.empty())
    answer_.channel->say(Piece{answer_.index, std::move(piece)});
  if (!done && !stream_.stopped()) return;
  if (!done) made_.numbers = numbers(session_->row());
  finish(ended || stream_.stopped());
}

std::vector<Token> DecodeSlot::settled(bool& ended) const {
  const std::vector<Token>& canvas = session_->canvas().tokens();
  std::vector<Token> ends = prompt_.ends;
  if (!answer_.wanted->ignore_end)
    for (const Token stop : arm_->models.facts[0].stops) ends.push_back(stop);
  std::vector<Token> tokens;
  for (std::size_t at = prompt_.offset; at < canvas.size() && canvas[at] != kNoToken; ++at) {
    tokens.push_back(canvas[at]);
    ended = std::find(ends.begin(), ends.end(), canvas[at]) != ends.end();
    if (ended) break;
  }
  return tokens;
}

std::string DecodeSlot::text_of(const std::vector<Token>& tokens) const {
  if (arm_->tokenizer) return arm_->tokenizer->decode(tokens);
  std::string text;
  for (const Token token : tokens) text += (text.empty() ? "" : " ") + std::to_string(token);
  return text;
}

void DecodeSlot::finish(bool ended) {
  made_.ended = ended;
  made_.text = stream_.handed();
  made_.numbers.tokens = static_cast<std::int64_t>(tokens_.size());
  made_.numbers.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  if (answer_.wanted->echo) {
    std::vector<Token> before;
    for (const auto& [position, token] : prompt_.given) before.push_back(token);
    // <s> is no text.
    if (arm_->tokenizer && !before.empty() && before.front() == arm_->tokenizer->begin())
      before.erase(before.begin());
    std::string text = text_of(before);
    if (!arm_->tokenizer && !text.empty() && !made_.text.empty()) text += " ";
    made_.text = text + made_.text;
  }
  if (answer_.wanted->likeliest && score()) return;
  whole_ = true;
  answer_.channel->say(made_);
}

bool DecodeSlot::score() {
  std::vector<Token> all;
  for (const auto& [position, token] : prompt_.given) all.push_back(token);
  std::size_t known = all.size();
  all.insert(all.end(), tokens_.begin(), tokens_.end());
  std::vector<Token> shown = all;
  const Tokenizer* const tokenizer = arm_->tokenizer.get();
  const bool begins = tokenizer && !all.empty() && all.front() == tokenizer->begin();
  // The first token has no context but <s>.
  if (answer_.wanted->echo) known = std::min<std::size_t>(known, 1);
  const std::size_t hidden = answer_.wanted->echo ? begins : known;
  shown.erase(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(hidden));
  if (known == all.size() || known == 0) return false;
  if (!arm_->composition.verifier.make)
    throw Refusal(400, "probabilities are asked for as a verifier does, and the config has none",
                  "logprobs");

  scoring_ = std::make_unique<Scoring>(Scoring{arm_->composition, {}});
  scoring_->arm.recording = {.top_k = std::max<std::int64_t>(1, *answer_.wanted->likeliest)};
  scoring_->shown = std::move(shown);
  scoring_->unscored = known - hidden;
  Prompt& prompt = scoring_->prompt;
  prompt.id = prompt_.id;
  prompt.length = static_cast<int>(all.size());
  prompt.offset = static_cast<int>(known);
  for (std::size_t at = 0; at < known; ++at)
    prompt.given.emplace_back(static_cast<std::int32_t>(at), all[at]);
  prompt.choices = {{all.begin() + static_cast<std::ptrdiff_t>(known), all.end()}};
  refused([&] {
    scoring_->session = session_of(scoring_->arm, arm_->models, prompt, {chance_});
    scoring_->work.emplace(scoring_->session->decode());
    scoring_->work->start();
  });
  return true;
}

void DecodeSlot::take_scores() {
  const SampleRow row = scoring_->work->take();
  const std::vector<DraftRow>& drafts = row.steps.front().drafts;
  // The least that an answer can say of an impossible token.
  const double least = std::log(std::numeric_limits<double>::denorm_min());
  std::string text;
  std::vector<Token> before;
  const auto spelled = [&](Token token) {
    std::vector<Token> tokens = before;
    const std::size_t length = text_of(tokens).size();
    tokens.push_back(token);
    const std::string whole = text_of(tokens);
    return whole.substr(std::min(whole.size(), length));
  };
  for (std::size_t i = 0; i < scoring_->shown.size(); ++i) {
    TokenLikelihood one;
    one.text = spelled(scoring_->shown[i]);
    one.offset = text.size();
    if (i >= scoring_->unscored) {
      const DraftRow& draft = drafts[i - scoring_->unscored];
      one.log_p = std::max(least, std::log(draft.p));
      for (const auto& [token, p] : draft.top) {
        const double log_p = std::max(least, std::log(p));
        // Clients compare the two numbers of a token.
        if (token == draft.token) one.log_p = log_p;
        if (static_cast<std::int64_t>(one.likeliest.size()) < *answer_.wanted->likeliest)
          one.likeliest.emplace_back(spelled(token), log_p);
      }
    }
    text += one.text;
    before.push_back(scoring_->shown[i]);
    if (before.size() > kSpelledAfter) before.erase(before.begin());
    made_.likelihoods.push_back(std::move(one));
  }
  whole_ = true;
  answer_.channel->say(made_);
}

CompletionNumbers DecodeSlot::numbers(const SampleRow& row) const {
  CompletionNumbers numbers;
  numbers.prompt_tokens = static_cast<std::int64_t>(prompt_.given.size());
  numbers.steps = static_cast<std::int64_t>(row.steps.size());
  numbers.nfe = session_->nfe();
  for (const StepRow& step : row.steps) {
    numbers.drafter_nfe += step.drafter_counts.nfe();
    numbers.drafted += step.drafted;
    if (step.verified != 0) numbers.accepted.push_back(step.accepted);
  }
  return numbers;
}

}  // namespace draftlab
