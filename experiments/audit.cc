// `draftlab audit FILE.py...` says whether somebody else's sampler is exact. The work is done by
// the Python package; this file starts it.
#include "core/base/cores.h"
#include "experiments/commands.h"
#include "experiments/python_module.h"

namespace draftlab {
namespace {

struct AuditFlags {
  std::string log, battery = "quick", format = "text", sampler, toy, kept;
  std::int64_t random_seed = 0, k = 0, workers = 0;
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
        .help("Seed of the random laws and draws; 0: another seed in each audit.");
    set.add("seconds", &seconds)
        .in(0, 1e6)
        .help("Processor time for a sampler, instead of the battery's; 0: the battery's.");
    set.add("continue", &kept)
        .help("Keeps in this file what was found, and goes on from it with twice its time.");
    set.add("hang", &hang)
        .in(0.001, 1e6)
        .help("Seconds after which a call that has not returned is ended.");
    set.add("workers", &workers)
        .in(0, 1024)
        .help(
            "Samplers that are audited side by side; 0: as many as there are processors. With "
            "--continue one.");
  }
};

int audit(const AuditFlags& flags, const CommandLine& line, const Registries&) {
  AuditFlags copy = flags;
  if (copy.workers == 0) copy.workers = usable_threads();
  OptionSet set;
  copy.declare(set);
  become_python_module("draftlab.audit", set, line.paths);
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
