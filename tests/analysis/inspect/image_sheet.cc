#include "analysis/inspect/image_sheet.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/figures/figures.h"
#include "analysis/report/report.h"
#include "core/base/error.h"
#include "core/base/npy.h"
#include "core/metrics/image_metrics.h"
#include "tests/analysis/traces.h"
#include "tests/core/base/png_reader.h"

namespace draftlab {
namespace {

const std::string kFolder =
    (std::filesystem::temp_directory_path() / ("draftlab_sheet_" + std::to_string(::getpid())))
        .string();
constexpr int kPrompts = 8;

// Nine tokens of 2 x 2 values, all alike in an image: 0.1 prompt + 0.45 arm.
double shade(int arm, int prompt) { return 0.1 * prompt + 0.45 * arm; }

// Steps of three drafts, of which two are accepted and one is replaced; the first draft of the
// second arm is the target's own.
std::string write_images() {
  std::filesystem::remove_all(kFolder);
  std::filesystem::create_directories(kFolder);
  const std::string path = kFolder + "/images.h5",
                    config = "task = images\n\n[task.images]\nmean = 0.25\ndeviation = 0.5\n";
  const std::vector<MadeArm> arms = {{.id = "a",
                                      .label = "mode=paper",
                                      .config = "drafter = stepwise\n" + config,
                                      .steps = 3,
                                      .drafted = 3,
                                      .accepted = 2},
                                     {.id = "b",
                                      .label = "mode=k split",
                                      .config = config,
                                      .steps = 3,
                                      .drafted = 3,
                                      .accepted = 2,
                                      .exact = 1}};
  std::vector<RunRow> runs = {made_run(arms[0]), made_run(arms[1])};
  TraceWriter writer(path, {{}, runs}, TraceOptions{}, false);
  for (int prompt = 0; prompt < kPrompts; ++prompt) {
    for (int run = 0; run < 2; ++run) {
      SampleRow row = made_sample(arms[static_cast<std::size_t>(run)], run, prompt, 0);
      for (StepRow& step : row.steps) {
        for (TokenRow& token : step.tokens)
          token.value = Eigen::VectorXd::Constant(4, shade(run, prompt));
        for (DraftRow& draft : step.drafts) draft.log_p = draft.log_q = -1;
        step.drafts[2].proposals = 4, step.drafts[2].capped = prompt == 0;
      }
      row.scores = {{"class_accuracy", 1},
                    {std::string(kImageLabel), prompt % 2},
                    {std::string(kImageDistance), prompt},
                    {std::string(kHeldOutDistance), 0.25},
                    {"image_feature_0", prompt},
                    {"image_feature_1", prompt % 3},
                    {"image_class_0", prompt % 2},
                    {"image_class_1", 1 - prompt % 2}};
      writer.sample(row);
    }
  }
  writer.close();
  return path;
}

TEST_CASE(
    "a sheet has an arm a row and a prompt a column; accepted and replaced tokens are outlined") {
  const Trace trace(write_images());
  const std::string legend = write_sheet(trace, kFolder + "/sheet.png", {.first = 2, .images = 3});
  CHECK(legend.find("row 1: mode=paper\n") != std::string::npos);
  CHECK(legend.find("row 2: mode=k split\n") != std::string::npos);
  CHECK(legend.find("black is -0.500, white 1.500") != std::string::npos);  // Intensities 0 and 1.
  Raster sheet = read_png(kFolder + "/sheet.png").raster;
  // 6 x 6 values of 16 pixels, gaps of 6.
  CHECK(sheet.width() == 3 * 102 + 6);
  CHECK(sheet.height() == 2 * 102 + 6);
  const auto grey = [](double value) {
    return static_cast<std::uint8_t>(std::lround(255 * (value + 0.5) / 2));
  };
  for (int arm = 0; arm < 2; ++arm)
    for (int column = 0; column < 3; ++column) {
      const std::uint8_t level = grey(shade(arm, 2 + column));
      CHECK(sheet.at(6 + column * 102 + 16, 6 + arm * 102 + 16) == Rgb{level, level, level});
    }
  const Rgb green{0, 150, 60}, red{220, 40, 30};
  CHECK(sheet.at(6, 6) == green);  // The first token.
  CHECK(sheet.at(6 + 32, 6) == green);
  CHECK(sheet.at(6 + 64, 6) == red);  // The third was replaced.
  CHECK(sheet.at(5, 6) == Rgb{255, 255, 255});
  // The target drew this one itself.
  CHECK(sheet.at(6, 6 + 102) == sheet.at(6 + 16, 6 + 102 + 16));
  CHECK(sheet.at(6 + 32, 6 + 102) == green);

  write_sheet(trace, kFolder + "/plain.png", {.run = 1, .outlines = false});
  const PngRead plain = read_png(kFolder + "/plain.png");
  CHECK(plain.grey);
  CHECK(plain.raster.width() == 8 * 102 + 6);
  CHECK(plain.raster.height() == 102 + 6);
  CHECK_THROWS_AS(write_sheet(trace, kFolder + "/none.png", {.first = 99}), UsageError);
}

TEST_CASE("exported images: a folder an arm, with arrays and pictures that other programs read") {
  const Trace trace(write_images());
  const std::vector<std::string> folders = export_images(trace, kFolder + "/out");
  REQUIRE(folders.size() == 2);
  CHECK(folders[1] == kFolder + "/out/mode=k-split");
  const NpyArray tokens = read_npy(folders[1] + "/tokens.npy");
  CHECK(tokens.shape == std::vector<std::int64_t>{kPrompts, 9, 4});
  CHECK(tokens.values[5 * 36 + 7] == doctest::Approx(shade(1, 5)));
  CHECK(read_npy(folders[0] + "/labels.npy").values == std::vector<float>{0, 1, 0, 1, 0, 1, 0, 1});
  const PngRead picture = read_png(folders[0] + "/images/000003.png");
  CHECK(picture.grey);
  CHECK(picture.raster.width() == 6);
  CHECK(picture.raster.pixels()[35].red == std::lround(255 * (shade(0, 3) + 0.5) / 2));
  std::ostringstream names;
  names << std::ifstream(folders[0] + "/samples.txt").rdbuf();
  CHECK(names.str().starts_with("p0 0\np1 0\n"));
}

// Pairs of images, of which the first four are of two classes and the others of one.
TEST_CASE("the score of ten splits is the mean of theirs, with their deviation") {
  std::filesystem::remove_all(kFolder);
  std::filesystem::create_directories(kFolder);
  const MadeArm arm{.id = "a", .label = "a", .config = "task = images\n"};
  {
    TraceWriter writer(kFolder + "/splits.h5", {{}, {made_run(arm)}}, TraceOptions{}, false);
    for (int prompt = 0; prompt < 20; ++prompt) {
      SampleRow row = made_sample(arm, 0, prompt, 0);
      const int image_class = prompt < 8 ? prompt % 2 : prompt / 2 % 2;
      row.scores = {{"image_class_0", 1 - image_class}, {"image_class_1", image_class}};
      writer.sample(row);
    }
    writer.close();
  }
  const Report report =
      make_report(Frame({kFolder + "/splits.h5"}),
                  {.metrics = {"class_score", "class_score_splits", "class_score_deviation"}});
  CHECK(report.groups[0].cell("class_score").value.value == doctest::Approx(2));
  CHECK(report.groups[0].cell("class_score_splits").value.value == doctest::Approx(1.4));
  CHECK(report.groups[0].cell("class_score_deviation").value.value ==
        doctest::Approx(std::sqrt(0.24)));
}

TEST_CASE(
    "the report of images: Frechet distance and score of all images together, energy distance with "
    "an interval, parts hidden") {
  write_images();
  const Frame frame({kFolder + "/images.h5"});
  const Report report = make_report(frame, {.metrics = {}});
  std::vector<std::string> names;
  for (const Metric& quantity : report.quantities) names.push_back(quantity.name);
  CHECK(std::count(names.begin(), names.end(), "image_feature_0") == 0);
  CHECK(std::count(names.begin(), names.end(), "class_accuracy") == 1);
  // Eight images of two certain classes, evenly.
  CHECK(report.groups[0].cell("class_score").value.value == doctest::Approx(2));
  // Features 0..7 and 0, 1, 2, 0, 1, 2, 0, 1, all of them and without one image.
  std::vector<double> sums{8, 28, 7, 140, 26, 11};
  double value = 8 * frechet_distance(sums);
  for (int i = 0; i < 8; ++i) {
    std::vector<double> without = sums;
    const double a = i, b = i % 3, addends[] = {1, a, b, a * a, a * b, b * b};
    for (std::size_t k = 0; k < without.size(); ++k) without[k] -= addends[k];
    value -= 7.0 / 8 * frechet_distance(without);
  }
  CHECK(report.groups[1].cell("frechet").value.value == doctest::Approx(value));
  CHECK(report.groups[1].cell("frechet").versus->difference.value == doctest::Approx(0));
  const Estimate plain = report.groups[1].cell("frechet_plain").value;
  CHECK(plain.value == doctest::Approx(frechet_distance(sums)));
  CHECK(plain.interval.high - plain.interval.low ==
        doctest::Approx(report.groups[1].cell("frechet").value.interval.high -
                        report.groups[1].cell("frechet").value.interval.low));
  CHECK(plain.interval.high - plain.value == doctest::Approx(plain.value - plain.interval.low));
  CHECK(report.groups[1].cell("states").value.value == 6);  // Three drafts, three verifications.

  // E|X - Y| is the mean of 0..7; images lie on a line, 0.1 apart in each of 36 values: |i - j|
  // 0.6, in the mean over pairs 3 x 0.6.
  const ReportCell& energy = report.groups[1].cell("energy_distance");
  CHECK(energy.value.value == doctest::Approx(2 * 3.5 - 1.8 - 0.25).epsilon(1e-5));
  CHECK(energy.value.interval.low < energy.value.value);
  CHECK(energy.versus->difference.value == doctest::Approx(0).scale(1).epsilon(1e-5));
  CHECK(energy.versus->equivalence.has_value());
}

TEST_CASE(
    "trials of vector tokens, the target's own draws left out, and acceptance over the course of a "
    "decode") {
  write_images();
  const Frame frame({kFolder + "/images.h5"});
  const Report report = make_report(
      frame, {.metrics = {"trial_acceptance", "proposals", "proposals_per_trial", "capped"}});
  const auto value = [&](int arm, int quantity) {
    return report.groups[static_cast<std::size_t>(arm)]
        .cell(report.quantities[static_cast<std::size_t>(quantity)])
        .value.value;
  };
  CHECK(value(0, 0) == doctest::Approx(2.0 / 3));
  CHECK(value(1, 0) == doctest::Approx(1.0 / 2));
  CHECK(value(0, 1) == 4);
  CHECK(value(0, 2) == doctest::Approx(4.0 / 3));
  CHECK(value(1, 2) == 2);
  CHECK(value(0, 3) == doctest::Approx(1.0 / 8));

  const Metrics quantities(frame);
  const Grouping grouping(frame, {});
  const PlotRequest request;
  const Picture picture = progress_figure({frame, quantities, grouping, request});
  REQUIRE(picture.data.size() == 1);
  const auto series = [&](const std::string& name) {
    std::istringstream lines(
        picture.data[0].second.substr(picture.data[0].second.find("# " + name)));
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);  // The first line says what the columns are.
    std::vector<std::pair<double, double>> points;
    for (double x = 0, y = 0;
         std::getline(lines, line) && std::sscanf(line.c_str(), "%lf %lf", &x, &y) == 2;)
      points.emplace_back(x, y);
    return points;
  };
  const auto first = series("mode=paper");
  REQUIRE(first.size() == 9);  // Two drafts of three are accepted, and the third is replaced.
  for (int i = 0; i < 9; ++i) {
    CHECK(first[static_cast<std::size_t>(i)].first == doctest::Approx((i + 0.5) / 9));
    CHECK(first[static_cast<std::size_t>(i)].second == (i % 3 < 2 ? 1 : 0));
  }
}

TEST_CASE("a trace of texts has nothing to draw") {
  std::filesystem::create_directories(kFolder);
  write_arms(kFolder + "/texts.h5", {{.id = "a"}});
  const Trace trace(kFolder + "/texts.h5");
  const auto refusal = [&](const auto& act) -> std::string {
    try {
      act();
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal([&] { write_sheet(trace, kFolder + "/a.png", {}); }) ==
        "'" + kFolder + "/texts.h5' has no vector tokens to draw");
  CHECK(refusal([&] { export_images(trace, kFolder + "/b"); }) ==
        "'" + kFolder + "/texts.h5' has no vector tokens to export");
  std::filesystem::remove_all(kFolder);
}

}  // namespace
}  // namespace draftlab
