// Libraries that crash on damaged files are tried out in a process of their own first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace draftlab {

// Runs `act` in a forked child that may use `bytes` of memory more and `seconds` of processor time
// (ten times that on the clock). False when the child died of it: a crash, a hang, or memory
// without end. What `act` throws does not matter. `act` must not take locks that another thread may
// hold.
bool survives(const std::function<void()>& act, std::uint64_t bytes, unsigned seconds);

// The same, and what `act` returned; nothing when the child died, or `act` threw.
std::optional<std::string> answer_of_child(const std::function<std::string()>& act,
                                           std::uint64_t bytes, unsigned seconds);

}  // namespace draftlab
