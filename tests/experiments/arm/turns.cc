// Samples that are decoded side by side: the same trace whoever decoded them, and refused where a
// copy of the process cannot decode.
#include "experiments/arm/turns.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/scratch.h"

namespace draftlab {

namespace {

std::vector<ComposedArm> composed_arms(const std::string& more) {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "model = table\ndrafter = self\nverifier = chain\ntask = positions\n[model.table]\nkind = "
      "ordered\nlength = 7\n[task.positions]\nlength = 7\nprompt = 3:1\n[sweep]\n"
      "decode.draft_length = 1, 3\n[run]\nsamples = 15\n" +
          more,
      "toy", diagnostics);
  diagnostics.raise();
  return compose_arms(config, registries);
}

// Decodes the toy in so many processes and returns every row of its trace, times apart.
std::string decoded(int workers, const std::string& path) {
  const std::vector<LoadedArm> arms = load_arms(composed_arms("threads = 1\n"));
  std::vector<RunRow> runs;
  for (const LoadedArm& arm : arms) runs.push_back(arm.row());
  TraceWriter writer(path, {{}, runs}, {}, false);
  Progress progress("decoding", "samples", 30);
  decode_missing(arms, workers, progress, writer);
  CHECK(writer.finished() == (workers > 1 ? 30 : 0));
  writer.close();
  const Trace trace(path);
  std::string text;
  for (const SampleRow& sample : trace.read()) {
    text += std::to_string(sample.run) + "/" + std::to_string(sample.sample_index) + ":";
    for (const StepRow& step : sample.steps)
      for (const TokenRow& token : step.tokens)
        text += " " + std::to_string(token.position) + "=" + std::to_string(token.token);
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a trace does not depend on how many processes decoded it") {
  const std::string alone = decoded(1, testing::scratch("turns-1.h5"));
  CHECK(std::count(alone.begin(), alone.end(), '\n') == 30);
  CHECK(decoded(2, testing::scratch("turns-2.h5")) == alone);
  CHECK(decoded(40, testing::scratch("turns-40.h5")) == alone);
}

TEST_CASE("several workers are refused where a copy of the process cannot decode") {
  CHECK(workers_of(composed_arms("workers = 3\n")) == 3);
  CHECK(workers_of(composed_arms("")) >= 1);
  CHECK(workers_of(composed_arms("batch = 4\n")) == 1);
  CHECK(workers_of(composed_arms("threads = 2\n")) == 1);
  CHECK(workers_of(composed_arms("threads = 2\nworkers = 1\n")) == 1);
  CHECK_THROWS_WITH_AS(workers_of(composed_arms("threads = 2\nworkers = 3\n")),
                       "run.workers = 3 cannot be: run.threads = 2, and each of several workers "
                       "computes with one thread; run.workers = 1 can",
                       ConfigError);
  CHECK_THROWS_AS(workers_of(composed_arms("batch = 4\nworkers = 2\n")), ConfigError);
  CHECK_THROWS_AS(workers_of(composed_arms("device = cuda\nworkers = 2\n")), ConfigError);
}

}  // namespace draftlab
