// `draftlab widen CHECKPOINT OUT --parameters 30M` makes a checkpoint of the same function at the
// cost of a larger one, so that a method can be timed where it would be used.
#include "plugins/models/widen/widen.h"

#include <iostream>

#include "core/base/count_text.h"
#include "core/base/error.h"
#include "experiments/commands.h"

namespace draftlab {
namespace {

struct WidenFlags {
  std::string parameters;
  void declare(OptionSet& set) {
    set.add("parameters", &parameters)
        .help("Number of parameters of the widened model, such as 30M.");
  }
};

int widen_checkpoint(const WidenFlags& flags, const CommandLine& line, const Registries&) {
  if (flags.parameters.empty())
    throw UsageError(
        "draftlab widen needs --parameters, the number that the checkpoint is to have, such as "
        "30M");
  const WidenJob job{line.paths[0], line.paths[1],
                     parameter_count(flags.parameters, "--parameters")};
  const Widened widened = widen(job);
  std::cout << job.out << ": " << count_text(widened.parameters)
            << " parameters compute the function of the " << count_text(widened.before) << " of "
            << job.checkpoint << ", " << (widened.exact ? "to the last bit in bf16" : "to rounding")
            << "\n  rows and heads " << widened.copies << " times as wide, inner width "
            << widened.inner << ", " << widened.layers
            << (widened.layers == 1 ? " layer" : " layers") << " appended\n";
  return 0;
}

}  // namespace

Command widen_command() {
  return {.name = "widen",
          .arguments = "CHECKPOINT OUT",
          .summary = "a checkpoint that computes the same function at the cost of a larger one",
          .fewest = 2,
          .most = 2,
          .flags = with_flags(widen_checkpoint)};
}

}  // namespace draftlab
