// `draftlab import FILE --out OUT --source TEXT` brings in what others recorded: as a trace, as
// acceptance lengths for `draftlab simulate`, or as a table. The work is done by the Python
// package, which asks this program for the columns of a trace; this file starts it.
#include <cstdlib>
#include <filesystem>

#include "experiments/commands.h"
#include "experiments/python_module.h"

namespace draftlab {
namespace {

struct ImportFlags {
  std::string out, source, task_name, drafted;
  void declare(OptionSet& set) {
    set.add("out", &out).help("What to write: a trace (.h5) or a CSV; it must not be there.");
    set.add("source", &source).help("Who measured this, and where it is from.");
    set.add("task-name", &task_name).help("The task, where the records do not say it.");
    set.add("drafted", &drafted)
        .help("Draft lengths, separated by commas, of a trace made of acceptance lengths.");
  }
};

int import_records(const ImportFlags& flags, const CommandLine& line, const Registries&) {
  ImportFlags copy = flags;
  OptionSet set;
  copy.declare(set);
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (!error) ::setenv("DRAFTLAB_PROGRAM", program.c_str(), 1);
  become_python_module("draftlab.foreign", set, line.paths);
}

}  // namespace

Command import_command() {
  return {.name = "import",
          .arguments = "FILE --out OUT --source TEXT",
          .summary = "what others recorded, as a trace, acceptance lengths or a table",
          .fewest = 1,
          .most = 1,
          .flags = with_flags(import_records)};
}

}  // namespace draftlab
