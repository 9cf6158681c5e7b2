// Tables of trainings: a row a step, a column a training.
#include "analysis/report/training_table.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "analysis/frame/trainings.h"
#include "core/base/error.h"
#include "core/trace/curves.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

// A training whose validation loss at a step is `loss / step`.
void write_curves(const std::string& folder, double loss, const std::vector<int>& steps) {
  std::filesystem::create_directories(folder);
  CurveWriter curves(folder + "/curves.h5", {});
  curves.add(CurveRow{.step = 1, .loss = 9});
  for (const int step : steps) curves.add(ValidationRow{.step = step, .loss = loss / step});
  curves.flush();
}

}  // namespace

TEST_CASE("a table of trainings has a row a step and a column a training") {
  const TraceFolder folder("training-table");
  write_curves(folder / "order=lattice", 6, {1, 2});
  write_curves(folder / "order=any-permutation", 3, {2, 4});
  std::vector<std::string> paths = {folder.path};
  const std::vector<std::string> trainings = take_curves(paths);
  CHECK(paths.empty());
  // Folders in the order of their names. A step at which a training was not validated has a dash,
  // and what none measured, such as perplexity, has no table.
  CHECK(training_tables(trainings, TableForm::markdown) ==
        "validation loss, nats a token\n\n"
        "| step | order=any-permutation | order=lattice |\n"
        "| --- | --- | --- |\n"
        "| 1 | - | 6.000 |\n"
        "| 2 | 1.500 | 3.000 |\n"
        "| 4 | 0.750 | - |\n");
}

TEST_CASE("a folder that holds traces and trainings is still one of traces") {
  const TraceFolder folder("training-table");
  write_curves(folder / "trained", 6, {1});
  write_arms(folder / "a.h5", {{.id = "a", .label = "a", .config = "drafter = self\n"}});
  std::vector<std::string> paths = {folder.path};
  CHECK(take_curves(paths).size() == 1);
  CHECK(paths == std::vector<std::string>{folder.path});
}

TEST_CASE("a training that was never validated has no table") {
  const TraceFolder folder("training-table");
  write_curves(folder / "a", 6, {});
  const std::string file = folder / "a/curves.h5";
  CHECK(message_of<DataError>([&] { training_tables({file}, TableForm::text); }) ==
        "'" + file + "' holds no validation of a training");
}

}  // namespace draftlab
