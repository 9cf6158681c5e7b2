// Work in a process of its own: of a library that crashes on damaged files, or beside this process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace draftlab {

// Runs `act` in a forked child that may use `bytes` more of memory and `seconds` of processor time
// (ten times that on the clock). Returns false when the child died of it: by a crash, a hang, or
// memory without end. What `act` throws does not matter. `act` must not take locks that another
// thread may hold.
bool survives(const std::function<void()>& act, std::uint64_t bytes, unsigned seconds);

// Runs `act` in a forked child, without limits, while this process goes on. A child whose answer
// nobody waits for is killed.
class ChildWork {
 public:
  explicit ChildWork(const std::function<std::string()>& act);
  ~ChildWork();
  ChildWork(const ChildWork&) = delete;
  ChildWork& operator=(const ChildWork&) = delete;
  // Waits for what `act` returned, once; nothing when the child died, or `act` threw.
  std::optional<std::string> answer();

 private:
  int child_ = -1, from_child_ = -1;
  // What it returned, where no child can be made.
  std::optional<std::string> own_;
};

// Runs `act` in a child as `survives` does, and returns what it returned; nothing when the child
// died, or `act` threw.
std::optional<std::string> answer_of_child(const std::function<std::string()>& act,
                                           std::uint64_t bytes, unsigned seconds);

}  // namespace draftlab
