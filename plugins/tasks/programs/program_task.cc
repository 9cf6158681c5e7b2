#include "plugins/tasks/programs/program_task.h"

namespace draftlab {

void ProgramTaskOptions::declare(OptionSet& set) {
  set.add("split", &split)
      .help(
          "Split of the generated problems; they never share one: choose arms on tune, report "
          "on test.");
  set.add("count", &count).in(1, 20000).help("How many problems there are, all different.");
  set.add("seed", &seed).help("Seed of the problems; no other seed changes a prompt or a test.");
  set.add("tests", &tests)
      .in(2, 1000)
      .help("Calls that a program must all answer as the reference solution does.");
  set.add("steps", &steps)
      .in(1, 1e9)
      .help("Steps of the interpreter that one call may take; an endless loop fails by this.");
  set.add("elements", &elements)
      .in(1, 1e8)
      .help("List elements that one call may make; the memory limit.");
  set.add("begin", &begin)
      .help(
          "Every canvas begins with <s>, which is always given: what draftlab's trainer shows "
          "a model.");
}

TestedPrograms ProgramTaskOptions::problems() const {
  return {static_cast<std::uint64_t>(seed), static_cast<int>(tests), split};
}

std::vector<Score> ProgramTaskOptions::scores(const std::string& program,
                                              const std::string& reference) const {
  const Program written = Program::parse(program);
  if (!written.ok()) return {{"correct", 0}, {"parses", 0}};
  const std::vector<ProgramTest> wanted = make_program_tests(reference, static_cast<int>(tests));
  return {{"correct", passes(written, wanted, {steps, elements}) ? 1.0 : 0.0}, {"parses", 1}};
}

}  // namespace draftlab
