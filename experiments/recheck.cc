// `draftlab recheck TRACE...` computes again, with a program that shares no line with the decoder,
// what traces say that was decided. The work is done by the Python package; this file starts it.
#include "experiments/commands.h"
#include "experiments/python_module.h"

namespace draftlab {
namespace {

struct RecheckFlags {
  std::string format = "text";
  bool model = false;
  void declare(OptionSet& set) {
    set.add("model", &model)
        .help(
            "Asks the models again, too: the toy `table`, and checkpoints of the families "
            "any-subset, block-diffusion, masked-diffusion and autoregressive in f32.");
    set.add("format", &format)
        .one_of({"text", "json"})
        .help("A line for each kind of number, or JSON.");
  }
};

int recheck(const RecheckFlags& flags, const CommandLine& line, const Registries&) {
  RecheckFlags copy = flags;
  OptionSet set;
  copy.declare(set);
  become_python_module("draftlab.recheck", set, line.paths);
}

}  // namespace

Command recheck_command() {
  return {.name = "recheck",
          .arguments = "TRACE...",
          .summary = "recomputes in numpy the decisions that a trace records",
          .fewest = 1,
          .most = kAnyNumber,
          .flags = with_flags(recheck)};
}

}  // namespace draftlab
