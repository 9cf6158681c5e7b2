// The log of a process: what it did and when, a line each, for those who look afterwards. What a
// user is to see now goes to standard error instead. Nothing is written until a log is opened.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace draftlab {

enum class LogLevel { debug, info, warning, error };
constexpr std::array<std::string_view, 4> words(LogLevel) {
  return {"debug", "info", "warning", "error"};
}

// Opens the log: lines are appended to the file, or go to standard error where the path is "-".
// Lines below the level are left out. Throws OutputError when the file cannot be written.
void open_log(const std::string& path, LogLevel least = LogLevel::info);

// Says whether a log is open.
bool logging();

// Writes one line, with the time (UTC), the level and the process. Several threads may do so.
void log(LogLevel level, const std::string& sentence);

}  // namespace draftlab
