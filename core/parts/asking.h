// Questions that suspend the part that asks. Its coroutine stops at `co_await
// step.ask(question)` and goes on with the answer. So the runner can answer the pending questions
// of many sequences in one forward, while the code of a plugin reads as if there were one sequence.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "core/model/question.h"

namespace draftlab {

class Model;

// What one sequence waits for. The runner reads `question`, fills `answer` and resumes `waiting`.
struct Mailbox {
  const Question* question = nullptr;
  // The index into the arm's models; 0 is the target.
  int model = 0;
  Answer answer;
  std::coroutine_handle<> waiting;
};

// A value that a coroutine yields once. The coroutine is lazy: nothing runs before it is awaited or
// started. Awaiting it runs the callee and comes back by symmetric transfer, so depth costs no
// stack. Exceptions pass through it.
template <class T>
class [[nodiscard]] Asking {
 public:
  struct promise_type {
    std::optional<T> value;
    std::exception_ptr error;
    std::coroutine_handle<> caller = std::noop_coroutine();

    struct Return {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().caller;
      }
      void await_resume() noexcept {}
    };
    Asking get_return_object() {
      return Asking(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Return final_suspend() noexcept { return {}; }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { error = std::current_exception(); }
  };

  Asking(Asking&& other) noexcept : self_(std::exchange(other.self_, {})) {}
  Asking& operator=(Asking&&) = delete;
  ~Asking() {
    if (self_) self_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    self_.promise().caller = caller;
    return self_;
  }
  T await_resume() { return take(); }

  void start() { self_.resume(); }
  bool done() const { return self_.done(); }
  T take() {
    if (self_.promise().error) std::rethrow_exception(self_.promise().error);
    return std::move(*self_.promise().value);
  }

 private:
  explicit Asking(std::coroutine_handle<promise_type> self) : self_(self) {}
  std::coroutine_handle<promise_type> self_;
};

// An awaited question; it lives in the frame of the asking coroutine until it is answered.
struct Wait {
  Mailbox& mailbox;
  Question question;
  int model = 0;

  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) noexcept {
    mailbox.question = &question;
    mailbox.model = model;
    mailbox.waiting = self;
  }
  Answer await_resume() { return std::exchange(mailbox.answer, {}); }
};

}  // namespace draftlab
