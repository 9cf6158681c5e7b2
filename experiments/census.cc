// `draftlab census [NAME...] --sources DIR` judges the public samplers for which `census/` has an
// adapter, at pinned commits. The work is done by the Python package; this file starts it.
#include "experiments/commands.h"
#include "experiments/python_module.h"

namespace draftlab {
namespace {

struct CensusFlags {
  std::string sources, format = "text", reports;
  std::int64_t random_seed = 0, seeds = 1, jobs = 1;
  double seconds = 10;
  void declare(OptionSet& set) {
    set.add("sources", &sources)
        .help("The folder with checkouts of the samplers' repositories; nothing is fetched.");
    set.add("format", &format)
        .one_of({"text", "json", "markdown", "script"})
        .help("Rows as text, JSON, a table, or the Monte Carlo scripts of the biased rows.");
    set.add("reports", &reports)
        .help("Write a draft of a report of each biased row into this folder.");
    set.add("seconds", &seconds)
        .in(0.001, 1e6)
        .help("Processor time for the audit of a row, without its controls.");
    set.add("random-seed", &random_seed)
        .in(0, 1e15)
        .help("Seed of the random laws and draws; 0: another seed each time.");
    set.add("seeds", &seeds)
        .in(1, 10000)
        .help(
            "Number of seeds, from --random-seed on, with which each row is audited, without "
            "controls.");
    set.add("jobs", &jobs).in(1, 256).help("Number of rows that are judged at a time.");
  }
};

int census(const CensusFlags& flags, const CommandLine& line, const Registries&) {
  CensusFlags copy = flags;
  OptionSet set;
  copy.declare(set);
  become_python_module("draftlab.census", set, line.paths);
}

}  // namespace

Command census_command() {
  return {.name = "census",
          .arguments = "[NAME...] --sources DIR",
          .summary = "are the public samplers lossless, at pinned commits? (docs/CENSUS.md)",
          .fewest = 0,
          .most = kAnyNumber,
          .flags = with_flags(census)};
}

}  // namespace draftlab
