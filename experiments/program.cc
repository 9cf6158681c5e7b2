#include "experiments/program.h"

#include <malloc.h>

#include <filesystem>
#include <iostream>

#include "analysis/metrics/metric.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/trace/provenance.h"
#include "experiments/sections.h"

namespace draftlab {

int run_command_line(const Command& command, const std::vector<std::string>& words,
                     const RegisterPlugins& register_plugins) {
  Parsed parsed = parse(command, {words.begin() + 1, words.end()});
  if (parsed.help) return print_help(command, std::cout), 0;
  if (!parsed.log.empty()) open_log(parsed.log, parsed.log_level);
  log(LogLevel::info, "draftlab " + version() + ": " + joined(words, " "));
  Registries registries;
  register_sections(registries);
  register_builtin_metrics(registries.metrics);
  register_plugins(parsed, registries);
  const int status = parsed.run(parsed.line, registries);
  log(LogLevel::info, "ends with status " + std::to_string(status));
  return status;
}

int status_of(const std::function<int()>& program) {
  // A cell takes and frees the same megabytes again and again. If they were given back to the
  // system at once, their pages would cost a quarter of the time in which its trace is made.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  try {
    const int status = program();
    std::cout.flush();
    if (!std::cout) throw Error(74, "standard output cannot be written");
    return status;
  } catch (const Error& error) {
    std::cout.flush();
    std::cerr << error.what() << "\n";
    log(LogLevel::error, error.what());
    return error.status();
  } catch (const std::filesystem::filesystem_error& error) {
    // A file that cannot be looked at, such as a link that leads to itself, is no fault of
    // draftlab.
    std::cout.flush();
    const std::string sentence =
        "'" + error.path1().string() + "' cannot be used: " + error.code().message();
    std::cerr << sentence << "\n";
    log(LogLevel::error, sentence);
    return 65;
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "draftlab has a fault: " << error.what() << "\n";
    log(LogLevel::error, std::string("a fault: ") + error.what());
    return 70;
  } catch (...) {
    std::cout.flush();
    const char* const sentence =
        "a part has a fault: it threw something that is no exception, which a library of --plugin "
        "or [plugins] must not do";
    std::cerr << sentence << "\n";
    log(LogLevel::error, sentence);
    return 70;
  }
}

}  // namespace draftlab
