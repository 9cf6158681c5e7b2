#include "analysis/figures/plot.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "analysis/figures/bins.h"
#include "analysis/report/forward_counts.h"
#include "analysis/report/words.h"
#include "core/base/error.h"
#include "core/metrics/decode_metrics.h"
#include "core/trace/curves.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns how often the words occur in a text.
int times(const std::string& text, const std::string& words) {
  int count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++count;
  return count;
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
  bins.add({0, 1, 7}, 1, 2);
  bins.add({0, 1, 7}, 2, 2);
  bins.add({0, 1, 8}, 0, 1);
  CHECK(bins.at(0, 1).value == doctest::Approx(3.0 / 5));
  CHECK(bins.prompts() == 2);
  CHECK(bins.empty(0, 0));
  CHECK(bins.empty(1));
  CHECK_FALSE(bins.empty());
  const std::string table = bins.table({"a", "b"}, {0.5, 1.5, 2.5});
  CHECK(table.find("# a\n# x value low high\n1.5 0.6 ") == 0);
  CHECK(table.find("\n\n\n# b\n# x value low high\nNaN NaN NaN NaN\n") != std::string::npos);
}

TEST_CASE("a curve is interrupted where nothing was seen for long") {
  Bins bins(1, 12);
  for (const std::size_t bin : {0, 2, 5}) bins.add({0, bin, 1}, 1);
  std::vector<double> x(12);
  for (std::size_t bin = 0; bin < 12; ++bin) x[bin] = static_cast<double>(bin);
  // One empty bin is passed over, and two are; three would be too many.
  CHECK(bins.table({"a"}, x) == "# a\n# x value low high\n0 1 NaN NaN\n2 1 NaN NaN\n5 1 NaN NaN\n");
  bins.add({0, 9, 1}, 1);
  CHECK(bins.table({"a"}, x).find("5 1 NaN NaN\n\n9 1 NaN NaN\n") != std::string::npos);
}

TEST_CASE("texts of a script") {
  CHECK(gnuplot_text("it's\n") == "'it''s '");
  CHECK(shortened("drafter=self", 12) == "drafter=self");
  CHECK(shortened("drafter=self", 5) == "draf\u2026");
  CHECK(shortened("\u00E4\u00F6\u00FC", 2) == "\u00E4\u2026");
  const ArmName name{"two words", {{"drafter.model.shape", "2 1"}, {"router", "ucb"}}};
  CHECK(name.text() == "two words drafter.model.shape=2 1 router=ucb");
  CHECK(name.short_text() == "two words shape=2 1 router=ucb");
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(kNotMeasured) == "NaN");
}

TEST_CASE(
    "every mark has a colour and a shape of its own, and no other one looks like the baseline") {
  std::set<std::string> colours, shapes, styles;
  for (std::size_t mark = 0; mark < kMarks; ++mark) {
    colours.insert(mark_colour(mark)), shapes.insert(mark_shape(mark));
    styles.insert(shape_style(mark));
  }
  CHECK(colours.size() == kMarks);
  CHECK(shapes.size() == kMarks);
  CHECK(styles.size() == kMarks);
  CHECK_FALSE(styles.contains("pt 2"));
  CHECK_FALSE(colours.contains("#000000"));
  CHECK(point_style(0) == "lc rgb '#0072B2' pt 7");
  CHECK(shape_style(14) == "pt 'A'");
}

TEST_CASE("acceptance by depth is what the metrics say") {
  const TraceFolder folder("plot");
  write_made(folder / "a.h5", 12);
  const Frame frame({folder / "a.h5"});
  const Metrics quantities(frame);
  const Grouping grouping(frame, {});
  const PlotRequest request;
  const PlotData data{frame, quantities, grouping, request};
  const Picture picture = acceptance_figure(data);
  std::vector<SampleRow> self;
  for (int prompt = 0; prompt < 6; ++prompt) self.push_back(made_sample(1, prompt, 0));
  std::vector<AtDepth> depths;
  for (const SampleRow& sample : self) {
    for (const StepRow& step : sample.steps) {
      for (const DraftRow& draft : step.drafts) {
        depths.resize(std::max(depths.size(), static_cast<std::size_t>(draft.depth) + 1));
        AtDepth& at = depths[static_cast<std::size_t>(draft.depth)];
        ++at.drafted, at.reached += draft.accepted >= 0, at.accepted += draft.accepted == 1;
      }
    }
  }
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

TEST_CASE("of the drafts that are recorded only those of the span were judged") {
  const TraceFolder folder("plot");
  const MadeArm arm{.id = "a", .label = "a", .steps = 8};
  {
    TraceWriter writer(folder / "a.h5", {{}, {made_run(arm)}}, TraceOptions{}, false);
    SampleRow row = made_sample(arm, 0, 0, 0);
    for (StepRow& step : row.steps) step.span = 2;
    writer.sample(row);
    writer.close();
  }
  const Frame frame({folder / "a.h5"});
  const std::vector<AtDepth> depths = Metrics(frame).samples().by_depth({1});
  REQUIRE(depths.size() == 2);
  CHECK(depths[1].drafted == 8);
}

// Steps of three tokens, from right to left as they are committed.
TEST_CASE(
    "the figure of AR-ness has both local readings, and orders the tokens of a step as asked") {
  const TraceFolder folder("plot");
  const MadeArm arm{.id = "a", .label = "a", .steps = 8};
  {
    TraceWriter writer(folder / "a.h5", {{}, {made_run(arm)}}, TraceOptions{}, false);
    for (int prompt = 0; prompt < 3; ++prompt) {
      SampleRow row = made_sample(arm, 0, prompt, 0);
      for (StepRow& step : row.steps)
        std::swap(step.tokens.front().position, step.tokens.back().position);
      writer.sample(row);
    }
    writer.close();
  }
  const Frame frame({folder / "a.h5"});
  const Metrics quantities(frame);
  const Grouping grouping(frame, {});
  const auto values = [&](const OrderReading& order, const std::string& name) {
    PlotRequest request;
    request.order = order;
    std::vector<double> read_values;
    for (const auto& [file, text] : ar_figure({frame, quantities, grouping, request}).data) {
      std::istringstream lines(file == name ? text : "");
      for (std::string line; std::getline(lines, line);) {
        double x = 0, value = 0;
        if (std::istringstream(line) >> x >> value) read_values.push_back(value);
      }
    }
    return read_values;
  };
  const std::vector<double> none(8, 0), all(8, 1);
  CHECK(values({}, "ar_local_s2d2.dat") == none);
  CHECK(values({.ties = Ties::position}, "ar_local_s2d2.dat") == all);
  CHECK(values({.ties = Ties::position}, "ar_local.dat")[0] == doctest::Approx(1.0 / 3));
  CHECK(values({.ties = Ties::position}, "ar_global.dat") == all);
}

// Of two attached estimators one expects what is accepted, the other twice that.
TEST_CASE("calibration has a curve for every attached estimator") {
  const TraceFolder folder("plot");
  {
    TraceWriter writer(folder / "a.h5", {{}, made_runs()}, TraceOptions{}, false);
    for (int i = 0; i < 12; ++i) {
      SampleRow row = made_sample(i % 2, i / 2, 0);
      for (StepRow& step : row.steps)
        step.estimates = {{"sure", step.accepted}, {"twice", 2.0 * step.accepted}};
      writer.sample(row);
    }
    writer.close();
  }
  const Frame frame({folder / "a.h5"});
  const Metrics quantities(frame);
  const PlotRequest request;
  const auto check = [&](const std::vector<std::string>& by,
                         const std::vector<std::string>& curves) {
    const Grouping grouping(frame, by);
    const Picture picture = calibration_figure({frame, quantities, grouping, request});
    REQUIRE(picture.data.size() == 2);
    const std::string& text = picture.data[1].second;
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
        // NaN stands for an empty curve.
        if (!(std::istringstream(line) >> expected >> value)) break;
        CHECK(value == doctest::Approx(curve.ends_with("twice") ? expected / 2 : expected));
      }
      const bool attached = curve.ends_with("sure") || curve.ends_with("twice");
      CHECK(points == (attached ? 3 : 0));  // That is 0, 1 or 2 accepted.
      CHECK((picture.script.find(drawn) != std::string::npos) == attached);
    }
  };
  check({}, {"stepwise", "self", "stepwise sure", "self sure", "stepwise twice", "self twice"});
  check({"model_family"}, {"table", "table sure", "table twice"});
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
          plot({.paths = {folder / "a.h5"}, .out = folder / "out", .formats = {"gif"}}, {});
        }) == "--format gif is none of svg, png, pdf");
}

TEST_CASE("without gnuplot the data and the script are there, and a sentence") {
  const TraceFolder folder("plot");
  Sheet sheet("two", {});
  sheet.data("two.dat", "1 2\n");
  sheet.panel("title", "x", "y", "plot 'two.dat' using 1:2");
  int status = 0;
  const std::string said = message<Error>([&] {
    try {
      draw({sheet.picture("caption")}, folder / "out", {"svg"}, "no-such-gnuplot");
    } catch (const Error& error) {
      status = error.status();
      throw;
    }
  });
  CHECK(status == 69);  // Something that is needed is not installed.
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
    CHECK(read(folder / ("out/" + picture.name + ".pdf")).substr(0, 5) == "%PDF-");
    CHECK(read(folder / ("out/" + picture.name + ".txt")) == picture.caption + "\n");
    CHECK_FALSE(picture.caption.empty());
  }
  CHECK(names == std::vector<std::string>{"pareto", "acceptance", "progress", "ar", "calibration",
                                          "router", "cost", "training"});
  // Heat and axis, because the arms differ in one key, the drafter; and machine, because these
  // traces do not say how large the model is.
  CHECK(plotted.left_out.size() == 3);
  CHECK_FALSE(std::filesystem::exists(folder / "out/gnuplot.log"));
}

namespace {

// Two drafters by three lengths; every number of an arm follows from its drafter and its length.
std::vector<MadeArm> six_arms() {
  std::vector<MadeArm> arms;
  for (const char* drafter : {"stepwise", "self"}) {
    for (const int length : {2, 4, 16}) {
      const std::string number = std::to_string(length);
      const bool self = std::string(drafter) == "self";
      arms.push_back({.id = drafter + number,
                      .label = "drafter=" + std::string(drafter) + " decode.draft_length=" + number,
                      .config = "drafter = " + std::string(drafter) +
                                "\n[decode]\ndraft_length = " + number + "\n[run]\nseed = 1\n",
                      .steps = self ? 20 - length : 40 - length,
                      .drafted = self ? length : 1,
                      .accepted = self ? 1 : 0,
                      .verified = self,
                      .seconds = (self ? 1.0 : 3.0) + 0.01 * length,
                      .score = [=](int) { return (self ? 0.5 : 0.75) + 0.01 * length; }});
    }
  }
  return arms;
}

// The first number of every line that is no comment and holds one.
std::vector<std::vector<double>> numbers_of(const std::string& table) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<double> row;
    for (double x = 0; words >> x;) row.push_back(x);
    if (!row.empty()) rows.push_back(row);
  }
  return rows;
}

const std::string& data_of(const Picture& picture, const std::string& file) {
  for (const auto& [name, text] : picture.data)
    if (name == file) return text;
  throw Fault("the figure has no file " + file);
}

}  // namespace

// What is drawn under a metric's label is that metric: every figure that takes a score, every
// score, a run and a sweep, of which times say nothing.
TEST_CASE("a figure shows what its label says") {
  const TraceFolder folder("plot");
  const std::vector<MadeArm> arms = six_arms();
  write_arms(folder / "run.h5", arms);
  write_sweep(folder / "sweep.h5", arms);
  const std::map<std::string, std::function<double(const SampleRow&)>> scores = {
      {"nfe", [](const SampleRow& row) { return static_cast<double>(row.counts.nfe()); }},
      {"seconds", [](const SampleRow& row) { return row.seconds; }},
      {"model_seconds",
       [](const SampleRow& row) {
         return 1e-9 *
                static_cast<double>(row.counts[Kind::draft].ns + row.counts[Kind::verify].ns);
       }},
      {"tokens_per_second", [](const SampleRow& row) { return row.generated / row.seconds; }},
      {"tokens_per_forward",
       [](const SampleRow& row) { return row.generated / static_cast<double>(row.counts.nfe()); }},
      {"generated", [](const SampleRow& row) { return static_cast<double>(row.generated); }},
      {"exact_match", [](const SampleRow& row) { return row.scores[0].second; }}};
  std::vector<std::map<std::string, double>> expected;  // The scores that each arm should have.
  for (const MadeArm& arm : arms) {
    const SampleRow row = made_sample(arm, 0, 0, 0);
    std::map<std::string, double>& values = expected.emplace_back();
    for (const auto& [name, of] : scores) values[name] = of(row);
  }
  for (const char* trace : {"run.h5", "sweep.h5"}) {
    const bool sweep = std::string(trace) == "sweep.h5";
    const Frame frame({folder / trace});
    const Metrics quantities(frame);
    const Grouping grouping(frame, {});
    REQUIRE(grouping.groups.size() == 6);
    for (const auto& [score, of] : scores) {
      CAPTURE(trace);
      CAPTURE(score);
      const Metric& quantity = quantities.find(score);
      PlotRequest request;
      request.score = score, request.speed = "nfe";
      request.baseline = "drafter=stepwise decode.draft_length=2";
      const PlotData data{frame, quantities, grouping, request};
      if (sweep && quantity.timing) {
        for (const auto& figure : {pareto_figure, axis_figure, heat_figure})
          CHECK(message<DataError>([&] { figure(data); }).find("times may not be compared: ") !=
                std::string::npos);
        request.score = "exact_match", request.speed = score;
        CHECK(message<DataError>([&] { pareto_figure(data); }).find("would compare " + score) !=
              std::string::npos);
        continue;
      }
      const Picture pareto = pareto_figure(data), axis = axis_figure(data),
                    heat = heat_figure(data);
      const std::string label = title_words(quantity);
      for (const Picture* picture : {&pareto, &axis})
        CHECK(picture->script.find("set label 902 '" + label) != std::string::npos);
      CHECK(heat.script.find("set title '" + label + "'") != std::string::npos);
      const auto points = numbers_of(data_of(pareto, "pareto.dat"));
      REQUIRE(points.size() == 6);
      for (std::size_t arm = 0; arm < 6; ++arm) {
        CHECK(points[arm][0] == doctest::Approx(expected[0]["nfe"] / expected[arm]["nfe"]));
        CHECK(points[arm][3] == doctest::Approx(expected[arm][score]).epsilon(1e-5));
      }
      CHECK(pareto.script.find("set label 901 'NFE, times fewer'") != std::string::npos);
      // Pairs of a place along the axis and a value.
      std::map<std::pair<double, double>, int> found;
      for (const auto& row : numbers_of(data_of(axis, "axis.dat")))
        for (std::size_t arm = 0; arm < 6; ++arm)
          found[{row[0], static_cast<double>(arm)}] +=
              std::abs(row[1] - expected[arm][score]) < 1e-5 * (1 + std::abs(row[1])) &&
              row[0] == number_of(frame.key(static_cast<int>(arm), "decode.draft_length"));
      for (std::size_t arm = 0; arm < 6; ++arm)
        CHECK(found[{*number_of(frame.key(static_cast<int>(arm), "decode.draft_length")),
                     static_cast<double>(arm)}] >= 1);
      for (const auto& row : numbers_of(data_of(heat, "heat.dat"))) {
        const bool known = std::any_of(expected.begin(), expected.end(), [&](auto& values) {
          return std::abs(row[0] - values[score]) < 1e-5 * (1 + std::abs(row[0]));
        });
        CHECK(known);
      }
    }
    // Of seconds, `cost` keeps only what may be compared.
    const PlotRequest request;
    const Picture cost = cost_figure({frame, quantities, grouping, request});
    CHECK((cost.caption.find("Seconds are not compared") != std::string::npos) == sweep);
    CHECK((cost.data.size() == 1) == sweep);
  }
}

TEST_CASE("a front stands among arms with one baseline, else there are panels") {
  const TraceFolder folder("plot");
  write_arms(folder / "a.h5", six_arms());
  const Frame frame({folder / "a.h5"});
  const Metrics quantities(frame);
  const PlotRequest request{.by = {"drafter", "decode.draft_length"},
                            .baseline = "drafter=stepwise"};
  const Grouping grouping(frame, request.by);
  const Picture picture = pareto_figure({frame, quantities, grouping, request});
  const std::string fronts = data_of(picture, "pareto_front.dat");
  for (const char* length : {"2", "4", "16"}) {
    CHECK(fronts.find("against drafter=stepwise decode.draft_length=" + std::string(length) +
                      "\n") != std::string::npos);
    CHECK(picture.script.find("set title 'against stepwise, draft length " + std::string(length) +
                              "'") != std::string::npos);
  }
}

TEST_CASE("a front's lines join arms along numbers, and not along names") {
  const TraceFolder folder("plot");
  write_arms(folder / "a.h5", six_arms());
  const Frame frame({folder / "a.h5"});
  const Metrics quantities(frame);
  const auto joined = [&](const std::string& series, const std::string& along) {
    PlotRequest request;
    request.series = {series}, request.along = along;
    const Grouping grouping(frame, {});
    const Picture picture = pareto_figure({frame, quantities, grouping, request});
    return picture.script.find("'pareto_lines.dat'") != std::string::npos;
  };
  CHECK(joined("drafter", "decode.draft_length"));
  CHECK_FALSE(joined("decode.draft_length", "drafter"));
}

namespace {

// Routers by costs by block sizes, and a reference.
std::vector<FigureItem> sixty_arms() {
  std::vector<FigureItem> all;
  int group = 0;
  all.push_back({group++, "base", {{"decode.block_size", "1"}, {"router", "never"}}});
  for (const char* router : {"never", "always", "ucb"})
    for (const char* cost : {"1", "2", "3", "5", "6"})
      for (const char* block : {"4", "8", "16", "32"})
        all.push_back(
            {group++,
             "arm",
             {{"decode.block_size", block}, {"router", router}, {"router.ucb.cost", cost}}});
  return all;
}

// How many looks the arms of a picture have, whatever their panels.
std::size_t looks(const Encoding& roles) {
  std::set<std::string> marks;
  for (const Encoding::Role& role : roles.roles) marks.insert(roles.mark(role));
  return marks.size();
}

}  // namespace

TEST_CASE("no two arms of a picture look alike, markers stand for the values along a key") {
  const std::vector<FigureItem> all = sixty_arms();
  const Encoding roles = encode(all, {.along = "decode.block_size", .reference = 0});
  CHECK(numeric_key(all) == "decode.block_size");
  CHECK(roles.roles.size() == all.size());
  CHECK(roles.left_out.empty());
  CHECK(roles.markers == std::vector<std::string>{"4", "8", "16", "32"});
  CHECK(roles.marker_title == "block size");
  CHECK(roles.colours.size() == 15);
  CHECK(roles.colours[0] == "never, cost 1");
  CHECK(roles.panels == std::vector<std::string>{"never", "always", "ucb"});
  CHECK(roles.reference == "block size 1, never");
  CHECK(looks(roles) == all.size());
  // What --series names is one colour in all panels.
  const Encoding arms =
      encode(all, {.series = {"router"}, .along = "decode.block_size", .reference = 0});
  CHECK(arms.colours == std::vector<std::string>{"never", "always", "ucb"});
  CHECK(arms.panels.size() == 5);
}

TEST_CASE("arms that have nothing but names are told apart, 3, 12 and 45 of them") {
  for (const int count : {3, 12, 45, 70}) {
    CAPTURE(count);
    std::vector<FigureItem> all;
    for (int i = 0; i < count; ++i)
      all.push_back({i, "arm", {{"arm", "method " + std::to_string(i)}}});
    const auto shown = static_cast<std::size_t>(std::min(count, static_cast<int>(kMarks)));
    const Encoding roles = encode(all, {});
    CHECK(roles.roles.size() == shown);
    CHECK(looks(roles) == shown);
    CHECK(roles.panels.size() == (shown + 7) / 8);
    CHECK(roles.left_out.empty() == (count <= 64));
    // In one panel for a front.
    const Encoding front = encode(all, {.a_panel = kMarks});
    CHECK(front.panels.size() == 1);
    CHECK(looks(front) == shown);
  }
}

TEST_CASE("axes of shares go from 0 to 1, powers of two stand on a logarithmic one") {
  AxisRange range;
  range.add(0.2), range.add(0.9);
  CHECK(range.within_a_share());
  CHECK(range.commands('y', true, 5).find("set yrange [0:1]\n") != std::string::npos);
  AxisRange sizes;
  sizes.add(4), sizes.add(32);
  CHECK_FALSE(sizes.within_a_share());
  CHECK(sizes.commands('x', false, 6, {4, 8, 16, 32}).find("set xtics (4, 8, 16, 32)") !=
        std::string::npos);
  // Drafts of 2, 4 and 7 tokens have no halves between them, and temperatures have.
  AxisRange lengths;
  lengths.add(2), lengths.add(7);
  CHECK(lengths.commands('x', false, 15, {2, 4, 7}).find("set xtics 1\n") != std::string::npos);
  CHECK(lengths.commands('x', false, 15, {2, 4.5, 7}).find("set xtics 0.5\n") != std::string::npos);
  // What would touch its neighbour is left out.
  CHECK(sizes.commands('x', false, 3, {4, 8, 16, 32}).find("set xtics (4, 16)") !=
        std::string::npos);
}

TEST_CASE("numbers of many digits below an axis stand further apart") {
  AxisRange seconds, tenths;
  seconds.add(0), seconds.add(0.0088);
  tenths.add(0), tenths.add(0.88);
  CHECK(seconds.commands('x', false, 5).find("set xtics 0.005\n") != std::string::npos);
  CHECK(seconds.commands('y', false, 5).find("set ytics 0.002\n") != std::string::npos);
  CHECK(tenths.commands('x', false, 5).find("set xtics 0.2\n") != std::string::npos);
}

TEST_CASE("an axis that counts from 1 has round tics") {
  CHECK(count_tics(4) == "set xtics (1, 2, 3, 4)\n");
  CHECK(count_tics(17) == "set xtics (1, 5, 10, 15)\n");
  CHECK(count_tics(64) == "set xtics (1, 10, 20, 30, 40, 50, 60)\n");
}

TEST_CASE("no title and no label is cut, and a panel alone has the whole width") {
  const std::string title =
      "self, draft length 5, temperature 0.6, one-by-one, min-span 2, a label that goes on and on: "
      "accepted, of those that were drafted and of those that were reached";
  Sheet sheet("long", {.across = 3});
  sheet.title(title);
  for (int i = 0; i < 3; ++i) sheet.panel(title, title, title, "plot x");
  std::string script = sheet.picture("").script;
  CHECK(script.find("\u2026") == std::string::npos);
  CHECK(script.find(".\"\\n\".") != std::string::npos);
  for (const char* word : {"reached'", "'self, draft"}) CHECK(times(script, word) >= 10);
  Sheet one("one", {.across = 3});
  one.panel("", "x", "y", "plot x");
  script = one.picture("").script;
  const std::size_t at = script.find("set rmargin at screen ");
  CHECK(std::stod(script.substr(at + 22)) > 0.95);
}

TEST_CASE("an axis that ends closely ends where its numbers do") {
  AxisRange range;
  range.end_closely();
  range.add(0.9), range.add(0.95);
  const std::string text = range.commands('y', true, 5);
  double low = 0, high = 0;
  REQUIRE(std::sscanf(text.substr(text.find('[')).c_str(), "[%lf:%lf]", &low, &high) == 2);
  CHECK(low > 0.89);
  CHECK(high < 0.96);
}

TEST_CASE("panels stand in rows, and a title that is too wide for one line in two") {
  Sheet sheet("rows", {.across = 3});
  sheet.panel("first", "x", "y", "plot x");
  sheet.begin_row();
  sheet.panel("hysteresis, temperature 0.6: steps routed to the verifier", "x", "y", "plot x");
  sheet.panel("third", "x", "y", "plot x");
  const std::string script = sheet.picture("").script;
  CHECK(script.find("set title 'hysteresis, temperature 0.6:'.\"\\n\".'steps routed to the "
                    "verifier'") != std::string::npos);
  // The second panel stands below the first, and the third beside the second.
  const auto margins = [&](const std::string& side) {
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = script.find("set " + side + "margin", at)) != std::string::npos;
         ++at)
      found.push_back(script.substr(at, script.find('\n', at) - at));
    return found;
  };
  const std::vector<std::string> left = margins("l"), top = margins("t");
  REQUIRE(left.size() == 3);
  CHECK(left[0] == left[1]);
  CHECK(left[1] != left[2]);
  CHECK(top[0] != top[1]);
  CHECK(top[1] == top[2]);
}

// The forwards of the fixture take 1 ms and 0.1 ms a position, of a model of 1000 f32 parameters.
TEST_CASE("a machine is told by bandwidth and arithmetic, and so is an arm's speedup there") {
  const TraceFolder folder("machine");
  std::vector<MadeArm> arms = {{.id = "s",
                                .label = "drafter=stepwise",
                                .config = "drafter = stepwise\n",
                                .steps = 24,
                                .drafted = 1,
                                .verified = false,
                                .seconds = 3,
                                .original_parameters = 250},
                               {.id = "f",
                                .label = "drafter=self",
                                .config = "drafter = self\n",
                                .steps = 8,
                                .seconds = 2,
                                .original_parameters = 250}};
  write_arms(folder / "a.h5", arms);
  const Frame frame({folder / "a.h5"});
  const Grouping grouping(frame, {});
  const std::vector<ForwardCounts> groups = forward_counts(frame, grouping);
  const int self = grouping.group_of[1];
  const ForwardCounts& wide = groups[self];
  // These are sums over six prompts.
  CHECK(wide.forwards == std::map<double, double>{{4, 48}, {8, 48}});
  CHECK(wide.tokens == 6 * 24);
  CHECK(groups[1 - self].forwards == std::map<double, double>{{1, 6 * 24}});
  // Reading takes 4 ms, and four and eight positions 8 and 16 ms.
  CHECK(wide.token_seconds({1e6, 1e6}) == doctest::Approx(0.008));
  CHECK(groups[1 - self].token_seconds({1e6, 1e6}) == doctest::Approx(0.004));
  ForwardCounts drafted = wide;
  drafted.draft_ns = drafted.target_ns / 4;
  CHECK(drafted.token_seconds({1e6, 1e6}) == doctest::Approx(0.01));
  const MachineSpeed machine = fitted_machine(frame, groups);
  CHECK(machine.bandwidth == doctest::Approx(4e6));
  CHECK(machine.flops == doctest::Approx(2e7));

  const PlotRequest request;
  const Metrics quantities(frame);
  const Picture picture = machine_figure({frame, quantities, grouping, request});
  // Where reading is all that counts, two forwards for three tokens; else 12 positions for three.
  for (const std::vector<double>& cell : numbers_of(data_of(picture, "machine_1.dat"))) {
    const double balance = 1000 * cell[1] / cell[0];  // Operations for each byte that is read.
    CAPTURE(balance);
    REQUIRE(cell.size() == 7);
    if (balance > 4) CHECK(cell[6] == doctest::Approx(1.5));
    if (balance < 0.5) CHECK(cell[6] == doctest::Approx(0.25));
  }
  // 12 positions for three tokens cost what reading costs once a token: at 2 operations a byte.
  const std::vector<double> even = numbers_of(data_of(picture, "machine_1_even.dat"))[0];
  CHECK(1000 * even[1] / even[0] == doctest::Approx(2).epsilon(0.01));
  const std::string measured = data_of(picture, "machine_1_measured.dat");
  CHECK(measured.find("\"1.50x (") != std::string::npos);
  CHECK(picture.caption.find("The target was widened from 250: same function, cost of 1k") !=
        std::string::npos);
  CHECK(make_report(frame, {}).notes.front().ends_with(
      " The target was widened from 250: same function, cost of 1k parameters."));
  if (!no_gnuplot()) {
    plot({.paths = {folder / "a.h5"}, .figures = {"machine"}, .out = folder / "out"}, {});
    CHECK(read(folder / "out/machine.svg").find("H100 1.50x") != std::string::npos);
    CHECK(read(folder / "out/machine.png").substr(1, 3) == "PNG");
    CHECK(read(folder / "out/machine.pdf").substr(0, 5) == "%PDF-");
    // Both axes of every panel have their label, also in the figure that the README shows.
    for (const std::string& drawn :
         {std::string(folder / "out/machine.svg"),
          std::string(DRAFTLAB_SOURCE_DIR "/docs/figures/machine.svg")}) {
      const std::string svg = read(drawn);
      CHECK(times(svg, "memory bandwidth, GB/s") > 0);
      CHECK(times(svg, "memory bandwidth, GB/s") == times(svg, "arithmetic, TFLOP/s"));
    }
  }
  arms.resize(1);
  write_arms(folder / "b.h5", arms);
  CHECK(message<DataError>([&] {
          plot({.paths = {folder / "b.h5"}, .figures = {"machine"}, .out = folder / "out"}, {});
        }).find("compares arms") != std::string::npos);
}

}  // namespace draftlab
