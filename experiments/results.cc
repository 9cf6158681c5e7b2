// `draftlab results [PAGE...]` runs the commands of the pages of results and writes what they print
// below them. The work is done by the Python package; this file starts it.
#include <cstdlib>
#include <filesystem>

#include "experiments/commands.h"
#include "experiments/python_module.h"
#include "plugins/models/nn/kernels/rows/instructions.h"

namespace draftlab {
namespace {

struct ResultsFlags {
  bool check = false, sign = false;
  Instructions instructions = Instructions::avx2;
  double longest = 0;
  std::string only, files;
  void declare(OptionSet& set) {
    set.add("check", &check)
        .help("Compares what is printed with the pages, times apart, and writes nothing.");
    set.add("sign", &sign)
        .help("Writes into the pages by which instructions --check found a table as printed.");
    set.add("instructions", &instructions)
        .help(
            "The vector instructions that commands compute with, whatever more the processor has.");
    set.add("longest", &longest)
        .in(0, 1e9)
        .help("Only tables whose commands took at most so many seconds; 0: all.");
    set.add("only", &only).help("Only tables whose commands hold this text.");
    set.add("files", &files)
        .help(
            "Folders, separated by commas, of weights that pages name and draftlab does not ship.");
  }
};

int results(const ResultsFlags& flags, const CommandLine& line, const Registries&) {
  ResultsFlags copy = flags;
  OptionSet set;
  copy.declare(set);
  // The pages' commands are those of this program.
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (!error) ::setenv("DRAFTLAB_PROGRAM", program.c_str(), 1);
  become_python_module("draftlab.results", set, line.paths);
}

}  // namespace

Command results_command() {
  return {.name = "results",
          .arguments = "[PAGE...]",
          .summary = "runs the commands of docs/results and writes what they print into the pages",
          .fewest = 0,
          .most = kAnyNumber,
          .flags = with_flags(results)};
}

}  // namespace draftlab
