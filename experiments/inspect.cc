#include "experiments/inspect.h"

#include <iostream>
#include <map>
#include <memory>

#include "analysis/trace/image_sheet.h"
#include "analysis/trace/inspect.h"
#include "analysis/trajectories.h"
#include "core/base/error.h"
#include "core/parts/task.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

std::int64_t number(const CommandLine& line, const std::string& flag) {
  const std::string text = line.flag(flag, "0");
  const bool digits = !text.empty() && text.size() <= 15 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) throw UsageError("--" + flag + " " + text + " is not a number from 0 on");
  return std::stoll(text);
}

// Returns the row of the `wanted`-th sample of one run.
std::int64_t row_in_run(const Trace& trace, std::int64_t run, std::int64_t wanted) {
  std::int64_t row = 0, seen = 0;
  for (const SampleRow& sample : trace.read(false)) {
    if (sample.run == run && seen++ == wanted) return row;
    ++row;
  }
  throw UsageError("run " + std::to_string(run) + " of '" + trace.path() + "' has " +
                   std::to_string(seen) + " samples, and sample " + std::to_string(wanted) +
                   " was asked for");
}

}  // namespace

int inspect(const CommandLine& line, const Registries&) {
  if (line.paths.size() != 1) throw UsageError("draftlab inspect takes one trace");
  const Trace trace(line.paths[0]);
  if (line.has("ar")) {
    std::cout << trajectories(trace.runs(), trace.read());
    return 0;
  }
  if (line.has("png")) {
    const std::int64_t run = line.has("run") ? number(line, "run") : -1;
    if (run >= static_cast<std::int64_t>(trace.runs().size()))
      throw UsageError("'" + trace.path() + "' has no run " + std::to_string(run));
    std::cout << write_sheet(trace, line.flag("png"),
                             {number(line, "sample"), number(line, "images"), static_cast<int>(run),
                              !line.has("plain")});
    return 0;
  }
  InspectOptions options;
  options.ascii = !terminal_shows_utf8();
  if (line.has("steps")) read_steps(line.flag("steps"), options);

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
    const bool known = found != tokenizers.end() && found->second && token >= 0 &&
                       token < found->second->vocabulary();
    return known ? found->second->piece(token) : std::string();
  };
  const std::int64_t sample = number(line, "sample");
  std::cout << inspect(
      trace, line.has("run") ? row_in_run(trace, number(line, "run"), sample) : sample, options);
  return 0;
}

}  // namespace draftlab
