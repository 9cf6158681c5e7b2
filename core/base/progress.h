// How far long work is, how fast, and how long it will take: one line that is rewritten on a
// terminal, else plain lines.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace draftlab {

class Progress {
 public:
  struct Screen {
    std::ostream* stream;  // standard error
    bool terminal;
    std::function<double()> seconds;  // a clock
    static Screen standard();
  };
  // `already` was done before (resume): it counts as done, but not towards the rate.
  Progress(std::string what, std::string unit, std::int64_t total, std::int64_t already = 0,
           Screen screen = Screen::standard());
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;

  // `note` is shown at the end of the line ("loss 3.21"). Cheap: shows at most ten lines a second,
  // six a minute in a log.
  void at(std::int64_t done, const std::string& note = {});
  void add(std::int64_t more = 1) { at(done_ + more); }
  // Rubs the line out, so that something else can be printed.
  void clear();

 private:
  void show();
  std::string what_, unit_, note_;
  std::int64_t total_, already_, done_;
  Screen screen_;
  double begun_, shown_;
  std::size_t width_ = 0;  // of the line on the terminal
};

// "0.8 s", "42 s", "3 min 05 s", "2 h 10 min".
std::string duration(double seconds);

}  // namespace draftlab
