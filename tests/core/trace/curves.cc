#include "core/trace/curves.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {

TEST_CASE("curves are rewritten, reloaded and cut back") {
  const TraceFolder folder("curves");
  CurveWriter writer(folder / "curves.h5", {});
  for (int step : {10, 20, 30}) {
    CurveRow row;
    row.step = step, row.loss = 1.0 / step, row.learning_rate = 0.1;
    writer.add(row);
  }
  writer.flush();
  ValidationRow validation;
  validation.step = 30, validation.perplexity = 12.3456789;
  writer.add(validation);
  writer.flush();
  CurveWriter again(folder / "curves.h5", {}, true);
  REQUIRE(again.curves().steps.size() == 3);
  CHECK(again.curves().steps[1].loss == 1.0 / 20);
  CHECK(std::isnan(again.curves().steps[1].grad_norm));
  CHECK(again.curves().validations.at(0).perplexity == 12.3456789);
  again.forget_after(20);
  again.flush();
  const Curves cut = read_curves(folder / "curves.h5");
  CHECK(cut.steps.size() == 2);
  CHECK(cut.validations.empty());
  CHECK_THROWS_AS(Trace(folder / "curves.h5"), DataError);
}

}  // namespace draftlab
