// `draftlab simulate ACCEPTANCE.csv --cost FILE` predicts what drafting gains on a GPU from
// measured acceptance lengths and a cost surface; `--fit` makes a surface of timed forwards. The
// work is done by the Python package; this file starts it.
#include "experiments/commands.h"
#include "experiments/python_module.h"

namespace draftlab {
namespace {

// Flags are texts that are empty where they are not given: the package knows the defaults, and
// refuses what says nothing to what is shown.
struct SimulateFlags {
  std::string cost, proposer, tasks, show, learn, fit, source;
  std::string batches, drafted, match, table, half, split, resamples, rate, slots, requests, depths;
  void declare(OptionSet& set) {
    set.add("cost", &cost)
        .help("The cost surface, an INI file (docs/GPU.md); needed, but with --fit.");
    set.add("proposer", &proposer).help("Whose acceptance lengths, e.g. ngram; empty: eagle3.");
    set.add("tasks", &tasks).help("Tasks, comma-separated; empty: all of the file.");
    set.add("show", &show)
        .one_of({"", "speedups", "routers", "bound", "arrivals"})
        .help("Which table is printed; empty: speedups.");
    set.add("learn", &learn).help("Learn the table of a router and write it into this file.");
    set.add("fit", &fit)
        .help("Fit a cost surface to measured forwards (a CSV or a trace) and write it here.");
    set.add("source", &source).help("Who measured the forwards, and on what; needed with --fit.");
    set.add("batches", &batches).help("Copies of a request in a batch; empty: 1,8,64.");
    set.add("drafted", &drafted)
        .help("Tokens drafted a step; empty: 1,3,5,oracle, for arrivals 0,3,5.");
    set.add("match", &match)
        .help(
            "TASK=P,...: probability that a look-up of which nothing was accepted had a draft; "
            "empty: 1.");
    set.add("table", &table).help("The learned table of a router.");
    set.add("half", &half)
        .help(
            "Which requests are used: learning, held-out or all; empty: held-out, and learning "
            "with --learn.");
    set.add("split", &split)
        .help("Seed of the shuffle that splits requests into halves; empty: 1.");
    set.add("resamples", &resamples).help("Resamples of requests for intervals; empty: 1000.");
    set.add("rate", &rate).help("Requests that arrive a second; empty: 1,8,32.");
    set.add("slots", &slots).help("Requests that are decoded at a time; empty: 64.");
    set.add("requests", &requests).help("How many requests arrive; empty: 1000.");
    set.add("depths", &depths).help("Longest draft of the table that is learned; empty: 12.");
  }
};

int simulate(const SimulateFlags& flags, const CommandLine& line, const Registries&) {
  SimulateFlags copy = flags;
  OptionSet set;
  copy.declare(set);
  become_python_module("draftlab.simulate", set, line.paths);
}

}  // namespace

Command simulate_command() {
  return {.name = "simulate",
          .arguments = "FILE (--cost FILE | --fit FILE --source TEXT)",
          .summary = "what drafting gains on a GPU, from others' measurements (docs/GPU.md)",
          .fewest = 1,
          .most = 1,
          .flags = with_flags(simulate)};
}

}  // namespace draftlab
