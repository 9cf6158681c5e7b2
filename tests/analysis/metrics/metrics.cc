#include "analysis/metrics/metrics.h"

#include <doctest/doctest.h>

#include "analysis/report/report.h"
#include "core/base/author.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

// The drafts of a sample that came to nothing.
class Wasted final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "wasted",
             .title = "wasted drafts",
             .unit = "1",
             .doc = "drafts that were not accepted, a sample",
             .compare = Metric::Compare::cost,
             .better = -1,
             .digits = 1,
             .measure = [](const Samples& samples) {
               std::vector<double> wasted;
               for (const AcceptanceSums& sums : samples.acceptance())
                 wasted.push_back(static_cast<double>(sums.drafted - sums.accepted));
               return Measured::mean_of(std::move(wasted));
             }}};
  }
};

// A number too few, under a name that is new.
class TooFew final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "too_few",
             .title = "",
             .unit = "",
             .doc = "",
             .measure = [](const Samples& samples) {
               return Measured::mean_of(std::vector<double>(samples.size() - 1, 1.0));
             }}};
  }
};

class SecondNfe final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "nfe", .title = "", .unit = "", .doc = "", .measure = [](const Samples& s) {
               return Measured::mean_of(s.forwards());
             }}};
  }
};

template <class Family>
MetricRegistry with(const std::string& name, const std::string& plugin = "") {
  MetricRegistry metrics = builtin_metrics();
  metrics.set_plugin(plugin);
  metrics.add<Family>(name, "a metric of a test");
  return metrics;
}

Frame two_arms(const TraceFolder& folder) {
  MadeArm first{.id = "a", .label = "first", .config = "drafter = self\n", .steps = 8};
  MadeArm second = first;
  second.id = "b", second.label = "second", second.config = "drafter = mine\n";
  second.accepted = 3;
  write_arms(folder / "a.h5", {first, second});
  return Frame({folder / "a.h5"});
}

}  // namespace

TEST_CASE("a metric of a user's own is measured, compared and listed like any other") {
  const TraceFolder folder("metrics");
  const Frame frame = two_arms(folder);
  const MetricRegistry known = with<Wasted>("wasted");
  const Report report = make_report(frame, {.metrics = {"wasted", "nfe"}, .known = &known});
  CHECK(report.groups[0].cell("wasted").value.value == 8 * (4 - 2));
  CHECK(report.groups[1].cell("wasted").value.value == 8 * (4 - 3));
  CHECK(report.groups[1].cell("wasted").versus->ratio.value == doctest::Approx(2));
  CHECK(metric_help(frame, known).find("drafts that were not accepted") != std::string::npos);
  CHECK(metric_help(frame).find("drafts that were not accepted") == std::string::npos);
}

TEST_CASE("token after token, a step is a forward") {
  const TraceFolder folder("steps");
  // Two turns, each of four forwards; the other arm drafts four at once and keeps three a turn.
  const MadeArm base{
      .id = "s", .config = "drafter = stepwise\n", .steps = 2, .verified = false, .draft_calls = 4};
  const MadeArm arm{.id = "f", .config = "drafter = self\n", .steps = 2, .draft_calls = 4};
  write_arms(folder / "a.h5", {base, arm}, {.prompts = 1});
  const Frame frame({folder / "a.h5"});
  const Metrics metrics(frame);
  const Measured& measured = metrics.of(metrics.find("tokens_per_step"));
  CHECK(measured.below() == std::vector<double>{8, 2});
  CHECK(measured.above() == std::vector<double>{2, 6});
  // A turn of no forward but a prefill's is a step, too.
  MadeArm prefills = base;
  prefills.draft_calls = 0;
  write_arms(folder / "b.h5", {prefills}, {.prompts = 1});
  const Frame imported({folder / "b.h5"});
  const Metrics of_turns(imported);
  CHECK(of_turns.of(of_turns.find("tokens_per_step")).below() == std::vector<double>{2});
}

TEST_CASE("a family that declares a name again, or measures too few numbers, is blamed") {
  const TraceFolder folder("metrics");
  const Frame frame = two_arms(folder);
  const MetricRegistry again = with<SecondNfe>("again", "libagain.so");
  CHECK(message_of<PartFault>([&] { Metrics(frame, again); }) ==
        "metric 'again' (libagain.so) declares 'nfe', which metric 'forwards' declares, too");
  const MetricRegistry few = with<TooFew>("few", "libfew.so");
  const Metrics metrics(frame, few);
  CHECK(message_of<PartFault>([&] { metrics.of(metrics.find("too_few")); })
            .find("metric 'few' (libfew.so) measures 'too_few' by 2 columns; it takes a number for "
                  "each of 12 samples") != std::string::npos);
}

TEST_CASE("every family of metrics names the file that declares it") {
  for (const auto& family : builtin_metrics().entries()) {
    CAPTURE(family.name);
    CHECK(family.source.ends_with("analysis/metrics/" + family.name + ".cc"));
    CHECK_FALSE(family.summary.empty());
  }
}

}  // namespace draftlab
