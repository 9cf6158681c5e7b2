// Work that copies of this process do side by side: they share what is in its memory, such as the
// weights of a model, and each computes with one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace draftlab {

// What a copy of the process has to do with the others and with the process that made it.
class Copy {
 public:
  virtual ~Copy() = default;
  // Returns the next number of 0, 1, 2, ... that no other copy has taken.
  virtual std::int64_t next() = 0;
  // Sends a text, which may hold any bytes, to the process that made this one.
  virtual void say(const std::string& text) = 0;
};

// Makes `count` copies of this process, each of which calls `work` and ends. It returns when all
// have ended; meanwhile it calls `heard` in this process with what each says, in the order in which
// it says it. Where one fails, or a stop is requested here, the others are asked to stop; the error
// of the first that failed is thrown here, with its status, and where a signal ended it, the same
// signal ends this process. Copies are killed when this process dies. No other thread may run, and
// no thread of a library may be needed again.
void in_copies(int count, const std::function<void(Copy&)>& work,
               const std::function<void(const std::string&)>& heard);

// Computes work(0), ..., work(count - 1) in so many copies of this process, or in this one where
// that is 1, and calls `heard` in this process with what each returned, in that order and as soon
// as it is known. Errors are those of in_copies.
void in_order(int copies, std::int64_t count, const std::function<std::string(std::int64_t)>& work,
              const std::function<void(const std::string&)>& heard);

}  // namespace draftlab
