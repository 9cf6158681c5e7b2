#include "analysis/figures/plot.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "analysis/figures/bins.h"
#include "core/metrics/decode_metrics.h"
#include "core/trace/curves.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Kind>
std::string message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

bool no_gnuplot() {
  const bool none = std::system("gnuplot --version >/dev/null 2>&1") != 0;
  if (none) MESSAGE("skipped: there is no gnuplot");
  return none;
}

}  // namespace

TEST_CASE("a bin is a ratio of sums, its interval from whole prompts") {
  Bins bins(2, 3);
  bins.add(0, 1, 7, 1, 2);
  bins.add(0, 1, 7, 2, 2);
  bins.add(0, 1, 8, 0, 1);
  CHECK(bins.at(0, 1).value == doctest::Approx(3.0 / 5));
  CHECK(bins.prompts() == 2);
  CHECK(bins.empty(0, 0));
  CHECK(bins.empty(1));
  CHECK_FALSE(bins.empty());
  const std::string table = bins.table({"a", "b"}, {0.5, 1.5, 2.5});
  CHECK(table.find("# a\n# x value low high\n1.5 0.6 ") == 0);
  CHECK(table.find("\n\n\n# b\n# x value low high\nNaN NaN NaN NaN\n") != std::string::npos);
}

TEST_CASE("texts of a script") {
  CHECK(gnuplot_text("it's\n") == "'it''s '");
  CHECK(shortened("drafter=self", 12) == "drafter=self");
  CHECK(shortened("drafter=self", 5) == "draf\u2026");
  CHECK(shortened("\u00E4\u00F6\u00FC", 2) == "\u00E4\u2026");
  CHECK(short_name("drafter=self decode.draft_length=5") == "drafter=self draft_length=5");
  CHECK(short_name("decode.temperature=0.8") == "temperature=0.8");
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(kNotMeasured) == "NaN");
  CHECK(line_style(0) != line_style(8));  // one colour, another shape
  CHECK(colour(0) == colour(8));
}

TEST_CASE("acceptance by depth is what the metrics say") {
  const TraceFolder folder("plot");
  write_made(folder / "a.h5", 12);
  const Frame frame({folder / "a.h5"});
  const Quantities quantities(frame);
  const Grouping grouping(frame, {});
  const PlotRequest request;
  const PlotData data{frame, quantities, grouping, request, {"stepwise", "self"}};
  const Picture picture = acceptance_figure(data);
  std::vector<SampleRow> self;
  for (int prompt = 0; prompt < 6; ++prompt) self.push_back(made_sample(1, prompt, 0));
  const std::vector<AtDepth> depths = acceptance_by_depth(self);
  for (const auto& [file, text] : picture.data) {
    std::istringstream lines(text.substr(text.find("# self")));
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    for (const AtDepth& at : depths) {
      double depth = 0, value = 0;
      lines >> depth >> value;
      std::getline(lines, line);
      CHECK(value == doctest::Approx(file == "acceptance_rate.dat" ? at.rate() : at.conditional())
                         .epsilon(1e-5));
    }
  }
}

// Of two attached estimators one expects what is accepted, the other twice that.
TEST_CASE("calibration has a curve for every attached estimator") {
  const TraceFolder folder("plot");
  {
    TraceWriter writer(folder / "a.h5", {}, made_runs(), TraceOptions{}, false);
    for (int i = 0; i < 12; ++i) {
      SampleRow row = made_sample(i % 2, i / 2, 0);
      for (StepRow& step : row.steps)
        step.estimates = {{"sure", step.accepted}, {"twice", 2.0 * step.accepted}};
      writer.sample(row);
    }
    writer.close();
  }
  const Frame frame({folder / "a.h5"});
  const Quantities quantities(frame);
  const PlotRequest request;
  const auto check = [&](const std::vector<std::string>& by, std::vector<std::string> arms,
                         const std::vector<std::string>& curves) {
    const Grouping grouping(frame, by);
    const Picture picture =
        calibration_figure({frame, quantities, grouping, request, std::move(arms)});
    REQUIRE(picture.data.size() == 2);
    const std::string& text = picture.data[0].second;
    int index = 0;
    std::size_t at = 0;
    for (const std::string& curve : curves) {
      CAPTURE(curve);
      at = text.find("# " + curve + "\n", at);
      REQUIRE(at != std::string::npos);
      const std::string drawn = "'calibration_prefix.dat' index " + std::to_string(index++) + " ";
      std::istringstream lines(text.substr(at));
      std::string line;
      std::getline(lines, line);
      std::getline(lines, line);
      int points = 0;
      for (double expected = 0, value = 0; std::getline(lines, line) && !line.empty(); ++points) {
        if (!(std::istringstream(line) >> expected >> value)) break;  // NaN: an empty curve
        CHECK(value == doctest::Approx(curve.ends_with("twice") ? expected / 2 : expected));
      }
      const bool attached = curve.ends_with("sure") || curve.ends_with("twice");
      CHECK(points == (attached ? 3 : 0));  // 0, 1 or 2 accepted
      CHECK((picture.script.find(drawn) != std::string::npos) == attached);
      CHECK((picture.script.find("set label " + std::to_string(index) + " '" + curve + "'") !=
             std::string::npos));
    }
  };
  check({}, {"stepwise", "self"},
        {"stepwise", "self", "stepwise sure", "self sure", "stepwise twice", "self twice"});
  check({"model_family"}, {"all"}, {"all", "sure", "twice"});
}

TEST_CASE("what a figure lacks is named") {
  const TraceFolder folder("plot");
  write_made(folder / "a.h5", 4);
  const auto plotted = [&](const std::string& figure, PlotRequest request = {}) {
    return [&folder, figure, request] {
      plot({.paths = {folder / "a.h5"}, .figures = {figure}, .out = folder / "out"}, request);
    };
  };
  CHECK(message<DataError>(plotted("training")) ==
        "the figure 'training' needs the curves.h5 of a training; name one, or its folder");
  CHECK(message<DataError>(plotted("heat")).find("needs a sweep over two keys") !=
        std::string::npos);
  CHECK(message<UsageError>(plotted("acceptanse")) ==
        "there is no figure 'acceptanse'; did you mean 'acceptance'?");
  PlotRequest unknown;
  unknown.score = "rouge1";
  CHECK(message<UsageError>(plotted("pareto", unknown)).find("there is no metric 'rouge1'") !=
        std::string::npos);
  CHECK(message<UsageError>([&] {
          plot({.paths = {folder / "a.h5"}, .out = folder / "out", .formats = {"pdf"}}, {});
        }) == "--format pdf is none of svg, png");
}

TEST_CASE("without gnuplot the data and the script are there, and a sentence") {
  const TraceFolder folder("plot");
  Sheet sheet("two", {});
  sheet.data("two.dat", "1 2\n");
  sheet.panel("title", "x", "y", "plot 'two.dat' using 1:2");
  const std::string said = message<OutputError>(
      [&] { draw({sheet.picture("caption")}, folder / "out", {"svg"}, "no-such-gnuplot"); });
  CHECK(said.find("there is no program 'no-such-gnuplot' (Debian: apt-get install gnuplot-nox)") !=
        std::string::npos);
  CHECK(read(folder / "out/two.dat") == "1 2\n");
  CHECK(read(folder / "out/two.gp").find("plot 'two.dat'") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "out/two.svg"));
}

TEST_CASE("every figure that a trace and a training can make is drawn") {
  if (no_gnuplot()) return;
  const TraceFolder folder("plot");
  write_made(folder / "a.h5", 12);
  {
    CurveWriter curves(folder / "curves.h5", {});
    for (int step = 1; step < 5; ++step) {
      curves.add(CurveRow{.step = step, .loss = 5.0 / step, .learning_rate = 0.1});
      curves.add(ValidationRow{.step = step, .loss = 6.0 / step, .perplexity = 100.0 / step});
    }
    curves.flush();
  }
  const Plotted plotted = plot({.paths = {folder.path}, .out = folder / "out"}, {});
  std::vector<std::string> names;
  for (const Picture& picture : plotted.pictures) {
    names.push_back(picture.name);
    CAPTURE(picture.name);
    CHECK(read(folder / ("out/" + picture.name + ".svg")).find("</svg>") != std::string::npos);
    CHECK(read(folder / ("out/" + picture.name + ".png")).substr(1, 3) == "PNG");
    CHECK_FALSE(picture.caption.empty());
  }
  CHECK(names == std::vector<std::string>{"pareto", "acceptance", "progress", "ar", "calibration",
                                          "router", "cost", "training"});
  CHECK(plotted.left_out.size() == 2);  // heat and axis: the arms differ in one key, the drafter
  CHECK_FALSE(std::filesystem::exists(folder / "out/gnuplot.log"));
}

}  // namespace draftlab
