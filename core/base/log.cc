#include "core/base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "core/base/error.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> one;
  return one;
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void open_log(const std::string& path, LogLevel least) {
  std::shared_ptr<spdlog::sinks::sink> sink;
  try {
    if (path == "-")
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
  } catch (const spdlog::spdlog_ex& error) {
    throw OutputError("--log {} cannot be written: {}", path, error.what());
  }
  logger() = std::make_shared<spdlog::logger>("draftlab", sink);
  logger()->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "%Y-%m-%dT%H:%M:%S.%eZ %l %P %v", spdlog::pattern_time_type::utc));
  logger()->set_level(level_of(least));
  logger()->flush_on(spdlog::level::trace);
}

bool logging() { return logger() != nullptr; }

void log(LogLevel level, const std::string& sentence) {
  if (logging()) logger()->log(level_of(level), one_line(sentence));
}

}  // namespace draftlab
