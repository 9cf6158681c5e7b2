// `draftlab inspect FILE --sample I` shows one trajectory, step by step.
#include <iostream>
#include <map>
#include <memory>

#include "analysis/frame/trajectories.h"
#include "analysis/inspect/image_sheet.h"
#include "analysis/inspect/inspect.h"
#include "core/base/error.h"
#include "core/parts/task.h"
#include "experiments/commands.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

struct InspectFlags {
  std::int64_t sample = 0, run = -1, images = 0;
  std::string steps, png;
  bool ar = false, plain = false;
  OrderReading order;
  TableForm format = TableForm::text;
  void declare(OptionSet& set) {
    set.add("sample", &sample).in(0, 1e15).help("Row of the sample.");
    set.add("run", &run).in(-1, 1e6).help("Only samples of this arm; -1: of all arms.");
    set.add("steps", &steps).help("The steps A:B, or the first N.");
    set.add("ar", &ar).help(
        "All samples instead: AR-ness; the course of confidence, entropy, tokens and acceptance.");
    set.add("ties", &order.ties)
        .help("With --ar: the tokens of one step in the order committed, or by position.");
    set.add("format", &format).help("With --ar: the form of the tables.");
    set.add("png", &png)
        .help(
            "File to write instead: a sheet of decoded images, an arm a row, accepted and replaced "
            "tokens outlined; --sample is the first prompt.");
    set.add("images", &images).in(0, 1e6).help("With --png: images of each arm; 0 for all.");
    set.add("plain", &plain).help("With --png: no outlines.");
  }
};

// Returns the row of the `wanted`-th sample of one run.
std::int64_t row_in_run(const Trace& trace, std::int64_t run, std::int64_t wanted) {
  std::int64_t row = 0, seen = 0;
  for (const SampleRow& sample : trace.read(false)) {
    if (sample.run == run && seen++ == wanted) return row;
    ++row;
  }
  throw UsageError("run {} of '{}' has {} samples, and sample {} was asked for", run, trace.path(),
                   seen, wanted);
}

int inspect_trace(const InspectFlags& flags, const CommandLine& line, const Registries&) {
  const Trace trace(line.paths[0]);
  if (flags.order.ties != Ties::committed && !flags.ar)
    throw UsageError("--ties says how --ar orders the tokens of one step; it goes with --ar");
  if (flags.format != TableForm::text && !flags.ar)
    throw UsageError("--format says in which form --ar prints its tables; it goes with --ar");
  if (flags.ar) {
    std::cout << trajectories(trace.runs(), trace.read(), flags.order, flags.format);
    return 0;
  }
  if (flags.run >= static_cast<std::int64_t>(trace.runs().size()))
    throw UsageError("'{}' has runs 0 to {}, and run {} was asked for", trace.path(),
                     trace.runs().size() - 1, flags.run);
  if (!flags.png.empty()) {
    std::cout << write_sheet(
        trace, flags.png, {flags.sample, flags.images, static_cast<int>(flags.run), !flags.plain});
    return 0;
  }
  InspectOptions options;
  options.ascii = !terminal_shows_utf8();
  if (!flags.steps.empty()) read_steps(flags.steps, options);

  // Where a checkpoint is still there, its tokenizer spells the tokens.
  std::map<int, std::unique_ptr<Tokenizer>> tokenizers;
  for (std::size_t run = 0; run < trace.runs().size(); ++run) {
    try {
      if (!trace.runs()[run].checkpoint.empty())
        tokenizers[static_cast<int>(run)] = open_tokenizer(trace.runs()[run].checkpoint);
    } catch (const Error&) {
      // The ids are shown instead.
    }
  }
  options.piece = [&](int run, Token token) {
    const auto found = tokenizers.find(run);
    return piece_of(found == tokenizers.end() ? nullptr : found->second.get(), token);
  };
  std::cout << inspect(
      trace, flags.run < 0 ? flags.sample : row_in_run(trace, flags.run, flags.sample), options);
  return 0;
}

}  // namespace

Command inspect_command() {
  return {.name = "inspect",
          .arguments = "FILE",
          .summary = "one decoded sequence, step by step",
          .flags = with_flags(inspect_trace)};
}

}  // namespace draftlab
