// `draftlab import FILE --out FILE.csv --source TEXT` reads acceptance lengths from the records of
// others for `draftlab simulate`. The work is done by the Python package; this file starts it.
#include "experiments/commands.h"
#include "experiments/python_module.h"

namespace draftlab {
namespace {

struct ImportFlags {
  std::string out, source, task_name;
  void declare(OptionSet& set) {
    set.add("out", &out).help("The CSV to write; it must not be there.");
    set.add("source", &source).help("Who measured this, and where it is from.");
    set.add("task-name", &task_name).help("The task, where the records do not say it.");
  }
};

int import_records(const ImportFlags& flags, const CommandLine& line, const Registries&) {
  ImportFlags copy = flags;
  OptionSet set;
  copy.declare(set);
  become_python_module("draftlab.foreign", set, line.paths);
}

}  // namespace

Command import_command() {
  return {.name = "import",
          .arguments = "FILE --out FILE.csv --source TEXT",
          .summary = "reads acceptance lengths that others recorded (docs/GPU.md)",
          .fewest = 1,
          .most = 1,
          .flags = with_flags(import_records)};
}

}  // namespace draftlab
