#include "plugins/remote/dialogue.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace draftlab::remote {
namespace {

std::uint64_t next_call() {
  static std::uint64_t last = 0;
  return ++last;
}

Purpose purpose_of(const Remote& remote, const Json& word) {
  for (const Purpose purpose :
       {Purpose::draft, Purpose::accept, Purpose::residual, Purpose::bonus, Purpose::choice,
        Purpose::order, Purpose::noise, Purpose::own_noise})
    if (word == name(purpose)) return purpose;
  remote.refuse("draws for the unknown purpose {}", word.dump());
}

// How many drafts come before a position of the window; -1 where it is none of the window.
int ahead_of(std::int32_t position, const std::vector<std::int32_t>& window) {
  const auto found = std::find(window.begin(), window.end(), position);
  return found == window.end() ? -1 : static_cast<int>(found - window.begin());
}

}  // namespace

Dialogue::~Dialogue() {
  if (open_) remote_.drop(call_);
}

Message Dialogue::call(const char* method, Message arguments) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  Message said = remote_.call(method, std::move(arguments), &scope_, seconds_);
  seconds_ += std::chrono::duration<double>(Clock::now() - began).count();
  return said;
}

bool Dialogue::start(const char* method, Message arguments) {
  call_ = next_call();
  arguments.header["call"] = call_;
  open_ = true;
  return follow(call(method, std::move(arguments)));
}

bool Dialogue::resume(Answer answer) {
  const int first = scope_.keep_rows(answer, question);
  if (model == 0 && !question.shallow) {
    int number = first;
    for (const Ask& ask : question.asks)
      for (const std::int32_t position : ask.positions) {
        if (ask.node == kRoot) told_[position] = number;
        ++number;
      }
  }
  Message message;
  message.header = {{"call", call_}, {"value", {scope_.keep(std::move(answer)), first}}};
  return follow(call("resume", std::move(message)));
}

int Dialogue::told(std::int32_t position) {
  if (const auto found = told_.find(position); found != told_.end()) return found->second;
  if (!step_.carry || step_.carry->unseen_commits > 0) return -1;
  const Distribution* const its = step_.carry->answer.find(step_.carry->node, position);
  return its ? scope_.keep(*its) : -1;
}

const Message& Dialogue::finish(const char* method, Message arguments) {
  if (start(method, std::move(arguments)))
    remote_.refuse("asks the model in {}, which may not", method);
  return result;
}

bool Dialogue::follow(Message said) {
  while (true) {
    const auto effect = said.header.find("y");
    if (effect == said.header.end()) {
      open_ = false;
      result = std::move(said);
      return false;
    }
    if (++effects_ > step_.decode.questions)
      remote_.refuse(
          "asks and draws more than {} times in step {}, which is decode.questions; it may go on "
          "for ever",
          step_.decode.questions, step_.clock);
    Message next;
    const bool asks = understood(remote_, said, [&](const Message&) {
      if (effect->at("do") == "ask") {
        question = AnswerReader(remote_, step_).question(*effect, model);
        return true;
      }
      next.header = {{"call", call_}, {"value", done(*effect, said)}};
      return false;
    });
    if (asks) return true;
    said = call("resume", std::move(next));
  }
}

// Returns the result of an effect that needs no model.
Json Dialogue::done(const Json& effect, const Message& said) {
  const std::string what = effect.at("do");
  const auto positions = effect.at("at").get<std::vector<std::int32_t>>();
  const Purpose purpose = purpose_of(remote_, effect.at("purpose"));
  const std::uint32_t attempt = effect.at("attempt");
  const auto site = [&](std::size_t i) {
    return effect.at("by_state") == true ? step_.choice(step_.canvas, positions[i])
                                         : step_.site(positions[i], purpose, attempt);
  };
  Json results = Json::array();
  if (what == "draw") {
    const std::vector<Distribution> laws = scope_.resolve_all(effect.at("of"), said);
    if (laws.size() != positions.size())
      remote_.refuse("draws at {} positions from {} distributions", positions.size(), laws.size());
    // A draft may share its number with the target (decode.noise), and then has its address.
    const bool drafted = purpose == Purpose::draft && attempt == 0 && effect.at("by_state") != true;
    for (std::size_t i = 0; i < laws.size(); ++i) {
      const int ahead = drafted ? ahead_of(positions[i], step_.window.positions) : -1;
      results.push_back(ahead < 0 ? step_.chance.draw(laws[i], site(i))
                                  : step_.draw(laws[i], positions[i], ahead, purpose));
    }
  } else if (what == "below") {
    const auto chances = effect.at("p").get<std::vector<double>>();
    if (chances.size() != positions.size())
      remote_.refuse("compares at {} positions with {} probabilities", positions.size(),
                     chances.size());
    for (std::size_t i = 0; i < chances.size(); ++i) {
      if (std::isnan(chances[i])) remote_.refuse("gives a probability that is not a number");
      results.push_back(step_.chance.below(chances[i], site(i)));
    }
  } else if (what == "normal") {
    for (std::size_t i = 0; i < positions.size(); ++i)
      results.push_back(step_.chance.normal(site(i)));
  } else {
    remote_.refuse("yields the unknown effect '{}'", what);
  }
  return results;
}

}  // namespace draftlab::remote
