// What a request hears: pieces of its texts as they come, each whole answer, or why there is none.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/endpoint/wanted.h"

namespace draftlab {

// What decoding an answer took, in draftlab's own numbers.
struct CompletionNumbers {
  std::int64_t prompt_tokens = 0, tokens = 0;
  std::int64_t steps = 0, nfe = 0, drafter_nfe = 0, drafted = 0;
  // The accepted prefix of each step that was verified.
  std::vector<std::int32_t> accepted;
  double seconds = 0;
};

// A token of an answer with its probability under the target at temperature 1, in the causal view;
// nothing where it has no context. `likeliest` are the most probable tokens there.
struct TokenLikelihood {
  std::string text;
  // Where the token begins in the text, in bytes.
  std::size_t offset = 0;
  std::optional<double> log_p;
  std::vector<std::pair<std::string, double>> likeliest;
};

struct Completion {
  // The number of the answer within its request.
  std::int64_t index = 0;
  std::string text;
  // Whether the text ended, by a token or by a stop, before it was as long as it might be.
  bool ended = false;
  CompletionNumbers numbers;
  std::vector<TokenLikelihood> likelihoods;
};

// A piece of the text of an answer that is being decoded.
struct Piece {
  std::int64_t index = 0;
  std::string text;
};

using Heard = std::variant<Piece, Completion, Refusal>;

// Carries what is heard from the thread that decodes to the thread that holds the connection.
class AnswerChannel {
 public:
  void say(Heard heard) {
    const std::lock_guard lock(mutex_);
    heard_.push_back(std::move(heard));
    filled_.notify_one();
  }
  // Waits until something was said.
  Heard hear() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return !heard_.empty(); });
    Heard first = std::move(heard_.front());
    heard_.pop_front();
    return first;
  }
  // Says that nobody listens any more.
  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
  }
  bool left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Heard> heard_;
  bool left_ = false;
};

}  // namespace draftlab
