// `draftlab audit FILE.py...` says whether somebody else's sampler is exact. The work is done by
// the Python package; this file starts it.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "core/base/error.h"
#include "experiments/commands.h"
#include "plugins/remote/interpreter.h"
#include "plugins/remote/python_plugin.h"

namespace draftlab {
namespace {

struct AuditFlags {
  std::string log, battery = "quick", format = "text", sampler, toy;
  std::int64_t random_seed = 0, k = 0;
  double seconds = 0, hang = 5;
  void declare(OptionSet& set) {
    set.add("log", &log)
        .help("Decisions that an engine logged, FILE.jsonl, to check instead of a sampler.");
    set.add("battery", &battery)
        .one_of({"quick", "full"})
        .help("quick: under 10 s a sampler; full: under 5 minutes.");
    set.add("toy", &toy).help("Only the laws of this name.");
    set.add("k", &k).in(0, 16).help("Only laws of so many drafts; 0: of every number of them.");
    set.add("format", &format).one_of({"text", "json"}).help("The form of the verdicts.");
    set.add("sampler", &sampler).help("Only the sampler of this name.");
    set.add("random-seed", &random_seed)
        .in(0, 1e15)
        .help("Seed of the random laws and of what is drawn; 0: another in each audit.");
    set.add("seconds", &seconds)
        .in(0, 1e6)
        .help("Processor time for a sampler, instead of the battery's; 0: the battery's.");
    set.add("hang", &hang)
        .in(0.001, 1e6)
        .help("Seconds after which a call that has not returned is ended.");
  }
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

int audit(const AuditFlags& flags, const CommandLine& line, const Registries&) {
  const std::string path = variable("PYTHONPATH");
  std::vector<std::string> words = {interpreter({"numpy"}), "-m", "draftlab.audit"};
  AuditFlags copy = flags;
  OptionSet set;
  copy.declare(set);
  for (const Option& option : set.options()) {
    if (option.value().empty()) continue;
    words.push_back("--" + option.name());
    words.push_back(option.value());
  }
  if (!line.paths.empty()) words.emplace_back("--");
  words.insert(words.end(), line.paths.begin(), line.paths.end());
  ::setenv("PYTHONPATH", (python_package() + (path.empty() ? "" : ":" + path)).c_str(), 1);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  ::execvp(arguments[0], arguments.data());
  throw Error(69, "'" + words[0] + "' cannot be started: " + std::strerror(errno) +
                      "; --python and DRAFTLAB_PYTHON name another interpreter");
}

}  // namespace

Command audit_command() {
  return {
      .name = "audit",
      .arguments = "FILE.py...",
      .summary = "is somebody else's sampler exact? its law, enumerated or sampled (docs/AUDIT.md)",
      .fewest = 0,
      .most = kAnyNumber,
      .flags = with_flags(audit)};
}

}  // namespace draftlab
