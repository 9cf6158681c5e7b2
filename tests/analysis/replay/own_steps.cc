// A router that is replayed on the steps of its own run decides as it did, whatever the unmasker:
// what it saw of that is recorded, and not told from the unmasker's name.
#include <doctest/doctest.h>

#include "analysis/replay/replay.h"
#include "core/config/plugin.h"
#include "core/parts/unmasker.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

// Verifies where the unmasker would commit fewer than half of the drafts, and in the first step.
class Hesitant final : public Router {
 public:
  Route decide(const StepView& step) const override {
    return {.verify = step.step == 0 || 2 * step.preview < step.confidence.size()};
  }
};

// An unmasker of a user's own: it commits drafts at odd positions, or else the first.
class Odd final : public Unmasker {
 public:
  Verdict choose(const Step&, const Proposal& proposal) const override {
    Verdict verdict;
    for (const Node& node : proposal.nodes)
      if (node.position % 2 == 1)
        verdict.commits.push_back({node.position, node.token, Source::threshold});
    const Node& first = proposal.nodes.front();
    if (verdict.commits.empty())
      verdict.commits.push_back({first.position, first.token, Source::threshold});
    return verdict;
  }
  int preview(const Step&, const Proposal& proposal) const override {
    return static_cast<int>(std::count_if(proposal.nodes.begin(), proposal.nodes.end(),
                                          [](const Node& node) { return node.position % 2; }));
  }
};

struct Replayed {
  std::int64_t steps = 0;
  double agreement = 0, verified = 0;
};

Replayed replayed(const Registries& registries, const std::string& unmasker,
                  const std::string& path) {
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "model = table\ndrafter = self\nverifier = chain\ntask = positions\nfrontier = blocks\n"
      "router = hesitant\nunmasker = " +
          unmasker +
          "\nrun.samples = 30\n[model.table]\nlength = 8\n[task.positions]\nlength = 8\nprompt = "
          "0:1\n[decode]\ndraft_length = 4\nblock_size = 4\nsteps = 2\nthreshold = 0.4\n",
      "toy", diagnostics);
  diagnostics.raise();
  const std::vector<LoadedArm> arms = load_arms(config, registries);
  TraceWriter writer(path, {{}, {arms[0].row()}}, arms[0].composition.trace, false);
  std::vector<Job> jobs;
  for (int sample = 0; sample < 30; ++sample) jobs.push_back({0, sample});
  arms[0].decode(jobs, [&](SampleRow row) {
    writer.sample(std::move(row));
    return true;
  });
  writer.close();
  ReplayRequest request;
  request.routers = {{"hesitant", arms[0].composition.router, std::nullopt}};
  const Replay result = replay(Frame({path}), request);
  const Decisions& own = result.routers.back();
  return {own.steps, own.agreement, own.verified};
}

}  // namespace

TEST_CASE("a router that is replayed on its own steps decides as it did, with every unmasker") {
  const TraceFolder folder("own-steps");
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  registries.routers.add<Hesitant>("hesitant", "verify what the unmasker is not sure of");
  registries.unmaskers.add<Odd>("odd", "commit odd positions");
  int mixed = 0;
  for (const auto& unmasker : registries.unmaskers.entries()) {
    Diagnostics diagnostics;
    const auto part = unmasker.bind({}, "unmasker." + unmasker.name, diagnostics).make();
    if (part->takes_back() || part->shows())
      continue;  // Such an arm is not verified, so it has no router to replay.
    CAPTURE(unmasker.name);
    const Replayed own = replayed(registries, unmasker.name, folder / (unmasker.name + ".h5"));
    CHECK(own.steps > 30);
    CHECK(own.agreement == 1);
    mixed += own.verified > 0 && own.verified < 1;
  }
  // The test says nothing where the router always decides alike.
  CHECK(mixed > 6);
}

}  // namespace draftlab
