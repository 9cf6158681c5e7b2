#include "experiments/endpoint/decoding.h"

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/stop_request.h"

namespace draftlab {
namespace {

// What a client hears of an error: what the config says of its request is its own to mend.
Refusal refusal_of(const std::exception& error) {
  if (const auto* refusal = dynamic_cast<const Refusal*>(&error)) return *refusal;
  if (dynamic_cast<const ConfigError*>(&error)) return {400, error.what()};
  log(LogLevel::error, error.what());
  return {500, error.what()};
}

}  // namespace

std::shared_ptr<AnswerChannel> Decoding::ask(Wanted wanted) {
  const auto shared = std::make_shared<const Wanted>(std::move(wanted));
  const auto answers = static_cast<std::int64_t>(shared->openings.size()) * shared->answers;
  auto channel = std::make_shared<AnswerChannel>();
  const std::lock_guard lock(mutex_);
  if (draining_) throw Refusal(503, "the server ends, and takes no request any more");
  if (queue_.size() + static_cast<std::size_t>(answers) > waiting_)
    throw Refusal(503, fmt::format("{} answers wait already; ask again later", queue_.size()));
  for (std::int64_t index = 0; index < answers; ++index)
    queue_.push_back({shared, channel, index, requests_});
  ++requests_;
  asked_.notify_one();
  return channel;
}

void Decoding::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
  asked_.notify_one();
}

void Decoding::run() {
  while (take_waiting()) {
    std::vector<Session*> sessions;
    for (DecodeSlot& slot : slots_)
      if (Session* const session = slot.waiting()) sessions.push_back(session);
    try {
      if (!sessions.empty()) answer_pending(arms_.as_configured().models, sessions);
      check_stop();
      advance();
    } catch (const Stopped&) {
      while (!slots_.empty()) fail(slots_.begin(), {503, "the server was stopped"});
      throw;
    } catch (const std::exception& error) {  // All of them shared the forward.
      const Refusal why = refusal_of(error);
      while (!slots_.empty()) fail(slots_.begin(), why);
    }
  }
}

bool Decoding::take_waiting() {
  std::unique_lock lock(mutex_);
  if (slots_.empty()) asked_.wait(lock, [this] { return !queue_.empty() || draining_; });
  while (slots_.size() < together_ && !queue_.empty()) {
    AnswerToDecode next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    const std::shared_ptr<AnswerChannel> channel = next.channel;
    try {
      if (!channel->left()) slots_.emplace_back(std::move(next), arms_, format_);
    } catch (const std::exception& error) {
      channel->say(refusal_of(error));
      channel->leave();
    }
    lock.lock();
  }
  return !slots_.empty() || !queue_.empty() || !draining_;
}

void Decoding::advance() {
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    const auto next = std::next(slot);
    try {
      slot->advance();
      if (slot->over()) slots_.erase(slot);
    } catch (const std::exception& error) {
      fail(slot, refusal_of(error));
    }
    slot = next;
  }
}

void Decoding::fail(std::list<DecodeSlot>::iterator slot, const Refusal& why) {
  slot->channel().say(why);
  slot->channel().leave();
  slots_.erase(slot);
}

}  // namespace draftlab
