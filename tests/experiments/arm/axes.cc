// What tells arms apart is recorded by the sweep and read by every table and figure: a value may
// hold blanks.
#include <doctest/doctest.h>

#include "analysis/figures/encoding.h"
#include "analysis/report/report.h"
#include "core/config/plugin.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Arms of trees of two shapes, decoded into a trace.
std::vector<RunRow> write_shapes(const std::string& path, const std::string& more) {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "model = table\nmodel.draft = table\ndrafter = model\nverifier = chain\ntask = positions\n"
      "run.samples = 6\n[model.table]\nkind = ordered\nlength = 6\n[model.draft]\nkind = ordered\n"
      "length = 6\nseed = 2\n[task.positions]\nlength = 6\nprompt = 0:1\n[decode]\ndraft_length = "
      "3\n"
      "[sweep]\ndrafter.model.shape = 2 1, 1 1 1\n" +
          more,
      "shapes", diagnostics);
  diagnostics.raise();
  const std::vector<LoadedArm> arms = load_arms(config, registries);
  std::vector<RunRow> runs;
  for (const LoadedArm& arm : arms) runs.push_back(arm.row());
  TraceWriter writer(path, {{}, runs}, arms[0].composition.trace, false);
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    std::vector<Job> jobs;
    for (int sample = 0; sample < 6; ++sample) jobs.push_back({0, sample});
    arms[arm].decode(jobs, [&](SampleRow row) {
      row.run = static_cast<std::int32_t>(arm);
      writer.sample(std::move(row));
      return true;
    });
  }
  writer.close();
  return Trace(path).runs();
}

Pairs axes_of(const RunRow& run) {
  Pairs axes;
  for (const AxisRow& axis : run.axes) axes.emplace_back(axis.key, axis.value);
  return axes;
}

}  // namespace

TEST_CASE("an axis whose values hold blanks gives whole cells, a legend and a baseline") {
  const TraceFolder folder("axes");
  const std::vector<RunRow> runs = write_shapes(folder / "a.h5", "");
  REQUIRE(runs.size() == 2);
  CHECK(axes_of(runs[0]) == Pairs{{"drafter.model.shape", "2 1"}});
  CHECK(axes_of(runs[1]) == Pairs{{"drafter.model.shape", "1 1 1"}});
  CHECK(runs[0].label.empty());

  const Frame frame({folder / "a.h5"});
  CHECK(frame.key(1, "drafter.model.shape") == "1 1 1");
  const Grouping grouping(frame, {});
  const std::vector<FigureItem> shown = figure_items(grouping);
  CHECK(shown[0].values == Pairs{{"drafter.model.shape", "2 1"}});
  CHECK(words_of(shown[1]) == "1 1 1");
  const Report report =
      make_report(frame, {.metrics = {"nfe"}, .baseline = "drafter.model.shape=1 1 1"});
  CHECK(report.groups[0].baseline == 1);
  CHECK(report.groups[1].baseline == 1);
}

TEST_CASE("the baseline of a sweep may have a value with blanks") {
  const TraceFolder folder("axes");
  const std::vector<RunRow> runs =
      write_shapes(folder / "a.h5", "baseline = drafter.model.shape=1 1 1 decode.draft_length=3\n");
  REQUIRE(runs.size() == 2);
  CHECK(axes_of(runs[0]) == Pairs{{"drafter.model.shape", "1 1 1"}, {"decode.draft_length", "3"}});
  CHECK(axes_of(runs[1]) == Pairs{{"drafter.model.shape", "2 1"}});
}

TEST_CASE("settings and parts of an arm are rows of the trace") {
  const TraceFolder folder("axes");
  const RunRow run = write_shapes(folder / "a.h5", "").front();
  std::map<std::string, SettingRow> settings;
  for (const SettingRow& row : run.settings) settings[row.key] = row;
  CHECK(settings.at("drafter").value == "model");
  CHECK(settings.at("drafter").part == 1);
  CHECK(settings.at("model.draft").part == 1);
  CHECK(settings.at("drafter.model.shape").value == "2 1");
  CHECK(settings.at("drafter.model.shape").part == 0);
  CHECK(settings.at("decode.draft_length").value == "3");
  CHECK_FALSE(settings.contains("run.threads"));
  CHECK(config_keys(run.config).size() == run.settings.size());
}

}  // namespace draftlab
