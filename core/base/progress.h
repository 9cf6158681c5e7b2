// Shows how far long work is, how fast it goes and how long it will take: on a terminal as one line
// that is rewritten, elsewhere as plain lines.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace draftlab {

class Progress {
 public:
  // The time in seconds, of a clock that nobody sets.
  static double steady_seconds();
  struct Screen {
    std::ostream* stream = nullptr;
    bool terminal = false;
    std::function<double()> seconds = steady_seconds;
  };
  // `already` was done before, by the run that is resumed: it counts as done, but not towards the
  // rate.
  Progress(std::string what, std::string unit, std::int64_t total, std::int64_t already = 0);
  // Ends the line.
  ~Progress();
  Progress(const Progress&) = delete;

  // Shows it on another screen than standard error, by whose clock the work begins now.
  void show_on(Screen screen);
  // Reports how much is done. `note` is shown at the end of the line ("loss 3.21"). A call is
  // cheap: at most ten lines a second are shown on a terminal, and six a minute in a log.
  void at(std::int64_t done, const std::string& note = {});
  void add(std::int64_t more = 1) { at(done_ + more); }
  // Erases the line, so that something else can be printed.
  void clear();

 private:
  void show();
  std::string what_, unit_, note_;
  std::int64_t total_, already_, done_;
  Screen screen_;
  double begun_ = 0, shown_ = 0;
  // The width of the line that stands on the terminal.
  std::size_t width_ = 0;
};

// Returns a duration in words, such as "0.8 s", "42 s", "3 min 05 s" or "2 h 10 min".
std::string duration(double seconds);

}  // namespace draftlab
