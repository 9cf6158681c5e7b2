#include "core/base/progress.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <utility>

namespace draftlab {
namespace {

constexpr double kTerminalSeconds = 0.1, kLogSeconds = 10;

// Writes a number with three significant digits, thousands as k and millions as M: "0.42", "17.3",
// "5.21k".
std::string short_number(double value) {
  const char* suffix = value >= 1e6 ? "M" : value >= 1e3 ? "k" : "";
  if (value >= 1e6)
    value /= 1e6;
  else if (value >= 1e3)
    value /= 1e3;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f%s",
                value < 9.995   ? 2
                : value < 99.95 ? 1
                                : 0,
                value, suffix);
  return text;
}

}  // namespace

Progress::Progress(std::string what, std::string unit, std::int64_t total, std::int64_t already)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      already_(already),
      done_(already) {
  show_on({&std::cerr, isatty(STDERR_FILENO) != 0});
}

double Progress::steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void Progress::show_on(Screen screen) {
  screen_ = std::move(screen);
  begun_ = shown_ = screen_.seconds();
}

Progress::~Progress() {
  if (width_ == 0) return;
  show();
  *screen_.stream << '\n' << std::flush;
}

void Progress::at(std::int64_t done, const std::string& note) {
  done_ = done;
  note_ = note;
  const double now = screen_.seconds();
  if (now - shown_ < (screen_.terminal ? kTerminalSeconds : kLogSeconds)) return;
  shown_ = now;
  show();
}

void Progress::clear() {
  if (width_ == 0) return;
  *screen_.stream << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

void Progress::show() {
  const double elapsed = screen_.seconds() - begun_;
  const double rate = elapsed > 0 ? static_cast<double>(done_ - already_) / elapsed : 0;
  std::string line = what_ + ": " + std::to_string(done_);
  if (total_ > 0) line += " of " + std::to_string(total_);
  line += " " + unit_;
  if (rate > 0) {
    line +=
        rate >= 1 ? ", " + short_number(rate) + " a second" : ", " + duration(1 / rate) + " each";
    if (total_ > done_)
      line += ", " + duration(static_cast<double>(total_ - done_) / rate) + " left";
  }
  if (!note_.empty()) line += ", " + note_;
  if (!screen_.terminal) {
    *screen_.stream << line << '\n' << std::flush;
    return;
  }
  const std::size_t written = line.size();
  // Spaces cover what the line before has left.
  if (written < width_) line.append(width_ - written, ' ');
  *screen_.stream << '\r' << line << std::flush;
  width_ = written;
}

std::string duration(double seconds) {
  char text[48];
  if (seconds < 9.95) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (seconds < 59.5) {
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  } else if (seconds < 3599.5) {
    const long whole = std::lround(seconds);
    std::snprintf(text, sizeof text, "%ld min %02ld s", whole / 60, whole % 60);
  } else {
    const long minutes = std::lround(seconds / 60);
    std::snprintf(text, sizeof text, "%ld h %02ld min", minutes / 60, minutes % 60);
  }
  return text;
}

}  // namespace draftlab
