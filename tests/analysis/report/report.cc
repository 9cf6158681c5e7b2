#include "analysis/report/report.h"
#include "analysis/report/acceptance_table.h"

#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "analysis/report/report_print.h"
#include "analysis/report/report_table.h"
#include "core/base/error.h"
#include "tests/analysis/traces.h"
#include "tests/complaint.h"

namespace draftlab {
namespace {

using testing::has;

// Stepwise decoding has 24 steps of one token a forward. Drafting has 8 steps, each of which drafts
// 4 tokens, accepts 2 and commits 3 in two forwards.
MadeArm stepwise() {
  return {.id = "s",
          .label = "drafter=stepwise",
          .config = "drafter = stepwise\n[run]\nseed = 1\n",
          .steps = 24,
          .drafted = 1,
          .verified = false,
          .seconds = 2};
}
MadeArm self(const std::string& length = "4") {
  return {.id = "f" + length,
          .label = "drafter=self decode.draft_length=" + length,
          .config = "drafter = self\n[decode]\ndraft_length = " + length + "\n[run]\nseed = 1\n",
          .steps = 8,
          .seconds = 0.5};
}

const ReportCell& cell(const Report& report, std::size_t group, const std::string& metric) {
  return report.groups[group].cell(metric);
}

}  // namespace

TEST_CASE("two arms, against the stepwise one") {
  const TraceFolder folder("report");
  write_arms(folder / "a.h5", {stepwise(), self()});
  const Frame frame({folder / "a.h5"});
  const Report report =
      make_report(frame, {.metrics = {"nfe", "tokens_per_forward", "seconds", "acceptance_rate",
                                      "accepted_length", "exact_match"}});
  REQUIRE(report.groups.size() == 2);
  CHECK(report.groups[1].baseline == 0);
  CHECK(cell(report, 0, "nfe").value.value == 24);
  CHECK(cell(report, 1, "nfe").value.value == 16);
  CHECK(cell(report, 1, "nfe").versus->ratio.value == doctest::Approx(1.5));
  CHECK(cell(report, 1, "nfe").versus->ratio.interval.low == doctest::Approx(1.5));
  CHECK(cell(report, 1, "tokens_per_forward").value.value == doctest::Approx(1.5));
  CHECK(cell(report, 1, "tokens_per_forward").versus->ratio.value == doctest::Approx(1.5));
  CHECK(cell(report, 1, "seconds").versus->ratio.value == doctest::Approx(4));
  CHECK(cell(report, 1, "acceptance_rate").value.value == doctest::Approx(0.5));
  CHECK(cell(report, 1, "acceptance_rate").versus->refused ==
        "it was not measured in drafter=stepwise");  // The stepwise drafter verifies nothing.
  CHECK_THROWS_AS(report.groups[0].cell("rouge1"), Fault);
  CHECK(cell(report, 1, "accepted_length").value.value == doctest::Approx(2));
  const Versus& score = *cell(report, 1, "exact_match").versus;
  CHECK(score.difference.value == 0);
  // Six prompts show nothing, however alike.
  CHECK(score.equivalence->finding == Equivalence::Finding::unjudged);
  CHECK_FALSE(score.non_inferiority->shown);
  CHECK(std::isnan(score.p));
  CHECK(score.prompts == 6);
  CHECK(score.samples == 6);

  const std::string table = print(report, ReportFormat::markdown);
  CAPTURE(table);
  CHECK(has(table, "1.50x [1.50, 1.50]"));
  CHECK(has(table, "exact_match: cannot be judged from 6 prompts"));
  CHECK(has(table, "| samples |"));
  CHECK(has(table, "three are the least"));
  // Nothing is said of images, nor of what stands behind a text's end.
  CHECK_FALSE(has(table, "Frechet"));
  CHECK_FALSE(has(table, "Texts end before"));
  CHECK(has(print(report, ReportFormat::latex), "\\begin{tabular}{lrr"));
  CHECK(has(print(report, ReportFormat::latex), "\\label{tab:results}"));
  CHECK(has(print(report, ReportFormat::latex), "1.50$\\times$ [1.50, 1.50]"));
  CHECK(has(print(report, ReportFormat::latex), "\\textbf{16.0 [16.0, 16.0]}"));
  // Nothing is best where both are alike (exact match), or one alone was measured (acceptance).
  CHECK(!has(print(report, ReportFormat::latex), "\\textbf{0.500 ["));
  // As text no line is wider than asked, and columns that do not fit stand below.
  const std::string plain = print(report, ReportFormat::text, 80);
  CHECK(has(plain, "1.50x [1.50, 1.50]"));
  CHECK(has(plain, "least"));
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  const std::string csv = print(report, ReportFormat::csv);
  CHECK(has(csv, "drafter=self decode.draft_length=4,nfe,1,16,16,16,6,6,drafter=stepwise,6,1.5,"));
  const auto commas = [&](const std::string& text) {
    return std::count(text.begin(), text.end(), ',');
  };
  const std::string header = csv.substr(0, csv.find('\n')),
                    first = csv.substr(header.size() + 1,
                                       csv.find('\n', header.size() + 1) - header.size() - 1);
  CHECK(commas(header) == commas(first));
  CHECK(has(print(report, ReportFormat::json), "\"p_holm\""));
}

TEST_CASE("arms that mostly write the same texts are said to") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), same = self("4"), other = self("2");
  base.text = [](int p) { return "text " + std::to_string(p); };
  same.text = [](int p) { return p == 3 ? "a near-tie" : "text " + std::to_string(p); };
  other.text = [](int p) { return "something else " + std::to_string(p); };
  write_arms(folder / "a.h5", {base, same, other}, {.prompts = 10});
  const std::string findings =
      print(make_report(Frame({folder / "a.h5"}), {.metrics = {"nfe"}}), ReportFormat::markdown);
  CAPTURE(findings);
  CHECK(has(findings, "9/10 texts equal |"));
  CHECK_FALSE(has(findings, "0/10 texts"));
}

TEST_CASE("tokens are compared with those of the file's first arm, position by position") {
  const TraceFolder folder("report");
  {
    TraceWriter writer(folder / "a.h5", {{}, {made_run(stepwise()), made_run(self())}},
                       TraceOptions{}, false);
    for (int prompt = 0; prompt < 4; ++prompt) {
      writer.sample(made_sample(stepwise(), 0, prompt, 0));
      SampleRow row = made_sample(self(), 1, prompt, 0);
      if (prompt == 0) row.steps[2].tokens[1].token = 7;  // One token of 24 differs.
      writer.sample(std::move(row));
    }
    writer.close();
  }
  const Report report =
      make_report(Frame({folder / "a.h5"}), {.metrics = {"same_text", "same_tokens"}});
  CHECK(cell(report, 0, "same_text").value.value == 1);
  CHECK(cell(report, 1, "same_text").value.value == doctest::Approx(3. / 4));
  CHECK(cell(report, 1, "same_tokens").value.value == doctest::Approx(95. / 96));
}

TEST_CASE("corpus BLEU is made of sums over prompts, compared on the same resampled ones") {
  const TraceFolder folder("report");
  const BleuSums right{5, 4, 3, 2, 5, 4, 3, 2, 5, 5}, wrong{0, 0, 0, 0, 5, 4, 3, 2, 5, 5};
  MadeArm base = stepwise(), half = self("4"), nearly = self("2");
  base.bleu_sums = [&](int) { return right; };
  half.bleu_sums = [&](int p) {
    return p % 2 ? wrong : right;
  };  // Every precision 1/2, though the mean of sentences has none.
  nearly.bleu_sums = base.bleu_sums;
  write_arms(folder / "a.h5", {base, half, nearly}, {.prompts = 40});
  const Frame frame({folder / "a.h5"});
  const Report report = make_report(frame, {.metrics = {"bleu"}});
  CHECK(cell(report, 0, "bleu").value.value == doctest::Approx(100));
  const ReportCell& worse = cell(report, 1, "bleu");
  CHECK(worse.value.value == doctest::Approx(50));
  CHECK(worse.value.interval.low > 30);
  CHECK(worse.value.interval.high < 70);
  CHECK(worse.versus->difference.value == doctest::Approx(-50));
  CHECK(worse.versus->difference.interval.high < -30);
  CHECK(worse.versus->equivalence->finding == Equivalence::Finding::different);
  CHECK_FALSE(worse.versus->non_inferiority->shown);
  CHECK(std::isnan(worse.versus->p));  // No prompt has a BLEU to flip the sign of.
  // Equivalence is read off the 90 % interval, which is that of a report at this confidence.
  const Report narrow = make_report(frame, {.metrics = {"bleu"}, .confidence = 0.9});
  const Interval wanted = cell(narrow, 1, "bleu").versus->difference.interval,
                 judged = worse.versus->equivalence->difference.interval;
  CHECK(judged.low == doctest::Approx(wanted.low));
  CHECK(judged.high == doctest::Approx(wanted.high));
  CHECK(judged.low > worse.versus->difference.interval.low);
  // All prompts are alike, which does not say how prompts spread.
  CHECK(cell(report, 2, "bleu").versus->equivalence->finding == Equivalence::Finding::unjudged);

  const std::vector<std::string> usual = Metrics(frame).usual();
  CHECK(std::count(usual.begin(), usual.end(), "bleu") == 1);
  CHECK(std::count(usual.begin(), usual.end(), "exact_match") == 1);
  CHECK(std::count(usual.begin(), usual.end(), "bleu_match_1") == 0);
}

TEST_CASE("groups, pivots and pairs: seeds are repeats, other keys are matched") {
  const TraceFolder folder("report");
  std::vector<MadeArm> arms;
  for (const char* drafter : {"stepwise", "self"}) {
    for (const char* length : {"2", "4"}) {
      for (const char* seed : {"1", "2"}) {
        MadeArm arm = std::string(drafter) == "self" ? self(length) : stepwise();
        arm.steps =
            (std::string(length) == "4" ? 10 : 20) * (std::string(drafter) == "self" ? 1 : 3);
        arm.id = std::string(drafter) + length + seed;
        arm.config = "drafter = " + std::string(drafter) + "\n[decode]\ndraft_length = " + length +
                     "\n[run]\nseed = " + seed + "\n";
        arms.push_back(arm);
      }
    }
  }
  write_arms(folder / "a.h5", arms);
  const Frame frame({folder / "a.h5"});
  const Report pooled = make_report(frame, {.by = {"drafter"}, .metrics = {"nfe"}});
  REQUIRE(pooled.groups.size() == 2);
  CHECK(cell(pooled, 0, "nfe").value.value == 45);  // That is 30 and 60.
  CHECK(cell(pooled, 1, "nfe").value.value == 30);  // That is 20 and 40.
  CHECK(cell(pooled, 1, "nfe").samples == 24);
  CHECK(cell(pooled, 1, "nfe").prompts == 6);
  CHECK(has(print(pooled, ReportFormat::markdown), "and on decode.draft_length"));

  const Report table = make_report(frame, {.by = {"drafter", "decode.draft_length"},
                                           .metrics = {"nfe"},
                                           .pivot = "decode.draft_length",
                                           .baseline = "drafter=stepwise"});
  REQUIRE(table.groups.size() == 4);
  // Each group is compared with the baseline of its own length.
  for (const Report::Group& group : table.groups)
    CHECK(table.groups[group.baseline].keys[1] == group.keys[1]);
  const std::string text = print(table, ReportFormat::markdown);
  CAPTURE(text);
  CHECK(has(text, "decode.draft_length=2"));
  CHECK(has(text, "40.0 [40.0, 40.0] (1.50x)"));
  CHECK(make_report(frame, {}).groups.size() == 4);  // Seeds fall together.

  CHECK(has(message_of<UsageError>([&] { make_report(frame, {.by = {"draftr"}}); }),
            "did you mean 'drafter'"));
  CHECK(has(message_of<UsageError>([&] { make_report(frame, {.metrics = {"nfes"}}); }),
            "did you mean 'nfe'"));
  CHECK(has(message_of<UsageError>([&] { make_report(frame, {.baseline = "drafter=none"}); }),
            "no group"));
  CHECK(has(
      message_of<UsageError>([&] { make_report(frame, {.by = {"drafter"}, .pivot = "run.seed"}); }),
      "--pivot"));
}

TEST_CASE("the note on pairing names what any row is matched on with its own baseline") {
  const TraceFolder folder("report");
  std::vector<MadeArm> arms;
  // Blocks of 1 have drafts of 2 and of 4 tokens, blocks of 8 only drafts of 6.
  for (const char* drafter : {"stepwise", "self"}) {
    for (const char* shape : {"1 2", "1 4", "8 6"}) {
      MadeArm arm = self();
      arm.id = std::string(drafter) + shape;
      arm.config = "drafter = " + std::string(drafter) + "\n[decode]\nblock_size = " + shape[0] +
                   "\ndraft_length = " + shape[2] + "\n[run]\nseed = 1\n";
      arms.push_back(arm);
    }
  }
  write_arms(folder / "a.h5", arms);
  const Report report = make_report(
      Frame({folder / "a.h5"}),
      {.by = {"drafter", "decode.block_size"}, .metrics = {"nfe"}, .baseline = "drafter=stepwise"});
  REQUIRE(report.groups.size() == 4);
  CHECK(report.groups[2].baseline == 0);
  CHECK(report.groups[3].baseline == 1);
  CHECK(has(print(report, ReportFormat::markdown), "and on decode.draft_length"));
}

TEST_CASE("a row's value and its difference are of the same samples") {
  const TraceFolder folder("report");
  const auto arm = [](const std::string& router, const std::string& estimator, double score) {
    MadeArm made = self();
    made.id = router + estimator;
    made.label = router + " " + estimator;
    made.config = "router = " + router + "\nestimator = " + estimator + "\n[run]\nseed = 1\n";
    made.score = [=](int p) { return p < 8 ? score : 1 - score; };
    return made;
  };
  // The baseline has one of two estimators, so the other's samples have no partner.
  write_arms(folder / "a.h5", {arm("min-span", "entropy", 1), arm("hysteresis", "entropy", 1),
                               arm("hysteresis", "margin", 0)});
  const Frame frame({folder / "a.h5"});
  const ReportRequest by_router{
      .by = {"router"}, .metrics = {"exact_match"}, .baseline = "router=min-span"};
  const Report pooled = make_report(frame, by_router);
  CHECK(has(cell(pooled, 1, "exact_match").versus->refused, "samples of estimator=margin"));
  CHECK(has(print(pooled, ReportFormat::markdown), "router=hysteresis is not compared: "));
  CHECK(cell(pooled, 1, "exact_match").samples == 12);
  const Report apart = make_report(
      frame,
      {.by = {"router", "estimator"}, .metrics = {"exact_match"}, .baseline = "router=min-span"});
  CHECK(cell(apart, 1, "exact_match").versus->refused == "");
  CHECK(cell(apart, 2, "exact_match").versus->refused == "");

  // The arm decoded more prompts than the baseline, and the others count in neither.
  write_arms(folder / "base.h5", {arm("min-span", "entropy", 1)}, {.prompts = 8});
  write_arms(folder / "more.h5", {arm("hysteresis", "entropy", 1)}, {.prompts = 12});
  const Report some =
      make_report(Frame({folder / "base.h5", folder / "more.h5"}), {.metrics = {"exact_match"}});
  CHECK(cell(some, 1, "exact_match").value.value == 1);
  CHECK(cell(some, 1, "exact_match").samples == 8);
  CHECK(cell(some, 1, "exact_match").versus->difference.value == 0);
  CHECK(has(print(some, ReportFormat::markdown), "of the 8 of 12 samples"));
}

TEST_CASE("a baseline is one row, or one that is like each row") {
  const TraceFolder folder("report");
  const auto arm = [](const std::string& model, const std::string& block) {
    MadeArm made = self();
    made.id = model + block;
    made.label = "plain decode.block_size=" + block;
    made.config = "model = " + model + "\n[decode]\nblock_size = " + block + "\n[run]\nseed = 1\n";
    return made;
  };
  write_arms(folder / "a.h5",
             {arm("frozen", "1"), arm("frozen", "4"), arm("tuned", "1"), arm("tuned", "4")});
  const Frame frame({folder / "a.h5"});
  // The tuned model is compared with the tuned model.
  const Report report = make_report(frame, {.baseline = "decode.block_size=1"});
  REQUIRE(report.groups.size() == 4);
  CHECK(report.groups[1].baseline == 0);
  CHECK(report.groups[3].baseline == 2);
  // A third model has no row of its own to be compared with.
  write_arms(folder / "b.h5", {arm("frozen", "1"), arm("tuned", "1"), arm("other", "4")});
  const std::string several = message_of<UsageError>(
      [&] { make_report(Frame({folder / "b.h5"}), {.baseline = "decode.block_size=1"}); });
  CHECK(has(several, "names several groups"));
  CHECK(has(several, "plain decode.block_size=1"));
  // Arms have names, alone and with axes.
  const std::string unknown =
      message_of<UsageError>([&] { make_report(frame, {.baseline = "arm=fancy"}); });
  CHECK(has(unknown, "there are 'plain decode.block_size=1"));
  const Report named = make_report(frame, {.by = {"model", "arm", "decode.block_size"},
                                           .baseline = "arm=plain decode.block_size=1"});
  CHECK(named.groups[3].baseline == 2);
  CHECK(named.groups[1].baseline == 0);
  // A word with "=" belongs to a name where no arm has such a key.
  MadeArm one = self("2"), two = self("4");
  one.label = "plain x=1", two.label = "plain x=2";
  write_arms(folder / "c.h5", {two, one});
  const Report spaced =
      make_report(Frame({folder / "c.h5"}), {.by = {"arm"}, .baseline = "arm=plain x=1"});
  CHECK(spaced.groups[0].baseline == 1);
  CHECK(spaced.groups[1].baseline == 1);
}

TEST_CASE("arms of several files that are called alike say in what they differ from one another") {
  const TraceFolder folder("report");
  const auto arm = [](const std::string& id, const std::string& label, const std::string& cache,
                      const std::string& length) {
    MadeArm made = self();
    made.id = id;
    made.label = label;
    made.config = "drafter = self\n[cache]\nkind = " + cache + "\n[decode]\nlength = " + length +
                  "\n[run]\nseed = 1\n";
    return made;
  };
  write_arms(folder / "a.h5", {arm("1", "plain", "none", "2"), arm("2", "other", "none", "4")});
  write_arms(folder / "b.h5", {arm("3", "plain", "dual", "2"), arm("4", "third", "dual", "8")});
  const Report report = make_report(Frame({folder / "a.h5", folder / "b.h5"}), {});
  std::vector<std::string> names;
  for (const Report::Group& group : report.groups) names.push_back(group.name);
  // Lengths differ among the other arms alone.
  CHECK(names == std::vector<std::string>{"plain cache.kind=none", "other", "plain cache.kind=dual",
                                          "third"});
}

TEST_CASE("the baseline of the sweep is the baseline of its table") {
  const TraceFolder folder("report");
  MadeArm cached = stepwise(), plain = stepwise();
  cached.id = "on", cached.label = "cache=on", cached.config += "cache = on\n";
  plain.id = "off", plain.label = "cache=off", plain.config += "cache = off\n";
  const std::string sweep = "[sweep]\nbaseline = run.cache=off\n";
  cached.config = "drafter = stepwise\n[run]\nseed = 1\ncache = on\n";
  plain.config = "drafter = stepwise\n[run]\nseed = 1\ncache = off\n";
  write_arms(folder / "a.h5", {cached, plain}, {.config = sweep});
  const Report report = make_report(Frame({folder / "a.h5"}), {.metrics = {"nfe"}});
  CHECK(report.groups[0].baseline == 1);
  CHECK(report.groups[1].baseline == 1);
  // An arm that has a label may be called by the name of its section.
  const std::string arms =
      "[arm.plain]\nlabel = cache=off\n[arm.other]\nlabel = cache=on\n[sweep]\nbaseline = ";
  for (const auto& [name, row] : {std::pair("plain", 1), std::pair("other", 0)}) {
    const std::string path = folder / (std::string(name) + ".h5");
    write_arms(path, {cached, plain}, {.config = arms + "arm=" + name + "\n"});
    const Frame frame({path});
    CHECK(make_report(frame, {.metrics = {"nfe"}}).groups[1 - row].baseline == row);
    const ReportRequest asked{.metrics = {"nfe"}, .baseline = std::string("arm=") + name};
    CHECK(make_report(frame, asked).groups[1 - row].baseline == row);
  }
  // Where a trace does not say, its baseline stands first, also where all rows decode stepwise.
  write_arms(folder / "b.h5", {plain, cached});
  const Report first = make_report(Frame({folder / "b.h5"}), {.metrics = {"nfe"}});
  CHECK(first.groups[1].baseline == 0);
}

TEST_CASE("Holm's family is chosen, and said") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), one = self("4"), two = self("2");
  base.score = [](int p) { return p % 2; };
  one.score = two.score = [](int p) { return p % 4 == 0 ? 0 : 1; };
  base.entropy = 1, one.entropy = 1, two.entropy = 1;
  write_arms(folder / "a.h5", {base, one, two}, {.prompts = 40});
  const Frame frame({folder / "a.h5"});
  const auto p_of = [&](Family family, const std::string& said) {
    const Report report = make_report(frame, {.metrics = {"exact_match", "nfe"}, .family = family});
    CHECK(has(print(report, ReportFormat::markdown), said));
    return cell(report, 1, "exact_match").versus->p_holm;
  };
  const double p = p_of(Family::baseline, "the rows of a metric that have the same baseline");
  CHECK(p_of(Family::table, "over the rows of a metric;") == doctest::Approx(p));
  // Two factors of nfe are smaller, so that two tests are left of four.
  CHECK(p_of(Family::all, "over all rows and metrics of the table") >= p);
  CHECK(
      cell(make_report(frame, {.metrics = {"exact_match", "nfe"}, .family = Family::all}), 1, "nfe")
          .versus->p_holm ==
      doctest::Approx(2 * cell(make_report(frame, {.metrics = {"nfe"}}), 1, "nfe").versus->p_holm));
}

TEST_CASE("a difference that is real, one that is not, and how many prompts it takes") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), better = self("4"), equal = self("2");
  base.score = [](int p) { return p % 2; };
  better.score = [](int p) { return p % 8 == 0 ? 0 : 1; };
  equal.score = [](int p) {
    return p % 10 < 2 ? 1 - p % 2 : p % 2;
  };  // That is 20 % discordant, no difference.
  write_arms(folder / "a.h5", {base, better, equal}, {.prompts = 40});
  const Frame frame({folder / "a.h5"});
  const Report report = make_report(frame, {.metrics = {"exact_match"}});
  CHECK(cell(report, 1, "exact_match").versus->p_holm < 0.01);
  CHECK(cell(report, 1, "exact_match").versus->equivalence->finding ==
        Equivalence::Finding::different);
  CHECK(cell(report, 2, "exact_match").versus->p_holm == 1);
  const Equivalence& undecided = *cell(report, 2, "exact_match").versus->equivalence;
  CHECK(undecided.finding == Equivalence::Finding::undecided);
  CHECK(undecided.needed == doctest::Approx(8.564 * (9.0 / 40) / (0.03 * 0.03)).epsilon(1e-3));
  const std::string text = print(report, ReportFormat::markdown);
  CAPTURE(text);
  CHECK(has(text, "exact_match: undecided, needs about 2141 prompts"));
  // A star stands behind what is significant, and a column of its own has what was found.
  CHECK(has(text, "p < 0.001* |"));
  CHECK(has(text, "p = 1.000 |"));
  CHECK(report_tables(report, Headings::keys)[0].header.back().text == "verdict");
  const std::string json = print(report, ReportFormat::json);
  CHECK(has(json, "\"finding\": \"undecided\""));
  CHECK(has(json, "\"margin\": 0.03"));
  CHECK(has(text, "No trace declares [report] margin_score"));
}

TEST_CASE("how many prompts tell a ratio from 1: of the spread that its interval shows") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), arm = self("4");
  // The arm takes 16 forwards where the baseline takes 24, then 24 where it takes 16.
  write_arms(folder / "a.h5", {base, arm}, {.prompts = 20});
  base.steps = 16, arm.steps = 12;
  write_arms(folder / "b.h5", {base, arm}, {.prompts = 20, .first = 20});
  const Report report =
      make_report(Frame({folder / "a.h5", folder / "b.h5"}), {.metrics = {"nfe"}});
  const Versus& versus = *cell(report, 1, "nfe").versus;
  CHECK(versus.prompts == 40);
  CHECK(versus.ratio.value == 1);
  REQUIRE(versus.ratio.interval.low < 1);
  REQUIRE(versus.ratio.interval.high > 1);
  // A 95 % interval is 2 * 1.959964 standard errors wide, and (1.959964 + 0.841621)^2 = 7.848880
  // variances over the square of log(1.05) = .04879016 are asked for.
  const double width = std::log(versus.ratio.interval.high) - std::log(versus.ratio.interval.low),
               sd = width / (2 * 1.959964) * std::sqrt(40);
  CHECK(versus.needed ==
        doctest::Approx(7.848880 * sd * sd / (.04879016 * .04879016)).epsilon(1e-5));
  const std::string json = print(report, ReportFormat::json);
  CHECK(has(json, "\"prompts_needed\": " + std::to_string(static_cast<int>(versus.needed)) + "."));
}

TEST_CASE("what lies beyond the margin is called better or worse, and needs no more prompts") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), better = self("4"), near = self("2");
  base.score = [](int p) { return p % 8 == 0; };
  better.score = [](int p) { return p % 8 != 0; };
  near.score = [](int p) { return p % 8 == 0 || p % 10 == 1; };  // That is 0.1 more, some prompts.
  write_arms(folder / "a.h5", {base, better, near}, {.prompts = 40});
  const Report report = make_report(Frame({folder / "a.h5"}), {.metrics = {"exact_match"}});
  CHECK(has(print(report, ReportFormat::markdown), "exact_match: better |"));
  CHECK(has(print(report, ReportFormat::markdown), "exact_match: no worse |"));
  const std::string text = print(report, ReportFormat::json);
  CAPTURE(text);
  CHECK(has(text, "exact_match better by 0.7500 [0."));
  CHECK(has(text, "(90 %), beyond the margin of 0.03."));
  CHECK(std::isinf(cell(report, 2, "exact_match").versus->equivalence->needed));
  CHECK(has(text, "lies outside the margin, so more prompts would not show it; no worse."));
  CHECK_FALSE(has(text, "DIFFERENT"));
}

TEST_CASE("what is accepted by construction is not tested") {
  const TraceFolder folder("report");
  MadeArm base = stepwise();
  base.verified = true, base.exact = 1, base.accepted = 1;
  write_arms(folder / "a.h5", {base, self()});
  const Report report = make_report(Frame({folder / "a.h5"}), {.metrics = {"acceptance_rate"}});
  CHECK(cell(report, 0, "acceptance_rate").value.value == 1);
  CHECK(has(cell(report, 1, "acceptance_rate").versus->refused, "is the target's own draw"));
}

// The layout of the S2D2 paper's Tables 6 to 10: an option of a router by block sizes, against a
// baseline that has neither the router nor a block.
TEST_CASE("a table with speedups in brackets, against a baseline of its own") {
  const TraceFolder folder("report");
  const auto arm = [](const std::string& router, const std::string& span, const std::string& block,
                      int steps, double score) {
    MadeArm made = self();
    made.id = router + span + block;
    made.label = "decode.block_size=" + block +
                 (span.empty() ? " router=" + router : " router.min-span.span=" + span);
    made.config = "router = " + router + "\n[decode]\nblock_size = " + block +
                  "\n[run]\nseed = 1\n" +
                  (span.empty() ? "" : "[router.min-span]\nspan = " + span + "\n");
    made.steps = steps;
    made.score = [=](int) { return score; };
    return made;
  };
  write_arms(folder / "a.h5",
             {arm("never", "", "1", 24, 0.9), arm("min-span", "1", "4", 12, 0.8),
              arm("min-span", "2", "4", 8, 0.7), arm("min-span", "1", "8", 6, 0.6)});
  const Frame frame({folder / "a.h5"});
  const ReportRequest request{.by = {"router.min-span.span", "decode.block_size"},
                              .metrics = {"exact_match"},
                              .pivot = "decode.block_size",
                              .speedup = "seconds"};
  ReportRequest nfe = request;
  nfe.speedup = "nfe";
  const Report report = make_report(frame, nfe);
  const std::string text = print(report, ReportFormat::markdown);
  CAPTURE(text);
  CHECK(has(text, "0.800 (2.00x)"));
  CHECK(has(text, "0.700 (3.00x)"));
  CHECK(has(text, "0.600 (4.00x)"));
  CHECK(has(text, "differ from their baseline in router"));
  CHECK_FALSE(has(text, "in common"));
  CHECK_FALSE(has(text, "decode.block_size=1 |"));  // The baseline stands in a note.
  CHECK(has(text, "with which all are compared: exact_match 0.900"));
  CHECK(text.starts_with("exact_match: "));
  CHECK(has(print(report, ReportFormat::text, 100), "In brackets: fewer NFE"));
  CHECK(has(print(report, ReportFormat::csv),
            "router.min-span.span,metric,decode.block_size=4,\"fewer NFE, decode.block_size=4\","
            "decode.block_size=8,\"fewer NFE, decode.block_size=8\"\n"
            "1,exact_match,0.8,2,0.6,4\n2,exact_match,0.7,3,,\n"));
  const std::string latex = print(report, ReportFormat::latex);
  CHECK(has(latex, "span & block size 4 & block size 8"));
  CHECK(has(latex, "\\textbf{0.800 (2.00$\\times$)} & 0.600 (4.00$\\times$)"));
  CHECK(has(print(make_report(frame, request), ReportFormat::markdown), "0.800 (1.00x)"));
  std::filesystem::remove(folder / "a.h5");
  write_arms(folder / "a.h5", {arm("never", "", "1", 24, 0.9), arm("min-span", "1", "4", 12, 0.8)},
             {.config = "[run]\nbatch = 2\n"});
  CHECK(has(message_of<DataError>([&] { make_report(Frame({folder / "a.h5"}), request); }),
            "times may not be compared, since"));
  CHECK(has(message_of<UsageError>([&] { make_report(frame, {.speedup = "nfe"}); }), "--pivot"));
}

TEST_CASE("a baseline that shares a column with other rows has a row in the table") {
  const TraceFolder folder("report");
  const auto arm = [](const std::string& span, const std::string& block, double score) {
    MadeArm made = self();
    made.id = "m" + span + block;
    made.label = made.id;
    made.config = "[decode]\nblock_size = " + block + "\n[run]\nseed = 1\n" +
                  (span.empty() ? "" : "[router.min-span]\nspan = " + span + "\n");
    made.score = [=](int) { return score; };
    return made;
  };
  write_arms(folder / "a.h5", {arm("", "4", 0.9), arm("1", "4", 0.8), arm("1", "8", 0.6)});
  const Report report =
      make_report(Frame({folder / "a.h5"}), {.by = {"router.min-span.span", "decode.block_size"},
                                             .metrics = {"exact_match"},
                                             .pivot = "decode.block_size",
                                             .speedup = "nfe"});
  const std::string text = print(report, ReportFormat::markdown);
  CAPTURE(text);
  CHECK(has(text, "0.900 (1x)"));
  CHECK_FALSE(has(text, "with which all are compared"));
}

TEST_CASE("numbers of a pivot ascend, whichever the baseline has") {
  const TraceFolder folder("report");
  write_arms(folder / "a.h5", {self("4"), self("10"), self("2")});
  const std::string text =
      print(make_report(Frame({folder / "a.h5"}), {.by = {"drafter", "decode.draft_length"},
                                                   .metrics = {"nfe"},
                                                   .pivot = "decode.draft_length"}),
            ReportFormat::csv);
  CAPTURE(text);
  CHECK(has(text, ",decode.draft_length=2,decode.draft_length=4,decode.draft_length=10\n"));
}

TEST_CASE("a pivot of several metrics is a LaTeX table for each") {
  const TraceFolder folder("report");
  write_arms(folder / "a.h5", {self("2"), self("4")});
  const std::string text =
      print(make_report(Frame({folder / "a.h5"}), {.by = {"drafter", "decode.draft_length"},
                                                   .metrics = {"nfe", "exact_match"},
                                                   .pivot = "decode.draft_length"}),
            ReportFormat::latex);
  CAPTURE(text);
  CHECK(has(text, "\\label{tab:results-1}"));
  CHECK(has(text, "\\label{tab:results-2}"));
  CHECK_FALSE(has(text, "\\label{tab:results-3}"));
}

TEST_CASE("signs are LaTeX's where they are signs, and letters in names") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), worse = self();
  base.score = [](int) { return 1; };
  worse.score = [](int p) { return p % 4 == 0; };
  worse.label = "2x4 v-4 1.5x a";
  write_arms(folder / "a.h5", {base, worse}, {.prompts = 40});
  const std::string text = print(
      make_report(Frame({folder / "a.h5"}), {.metrics = {"exact_match"}}), ReportFormat::latex);
  CAPTURE(text);
  CHECK(has(text, "2x4 v-4 1.5$\\times$ a"));
  CHECK(has(text, "$-$0.750 [$-$0."));
}

TEST_CASE("markdown: keys are on the left, numbers on the right, and bars of names are escaped") {
  const TraceFolder folder("report");
  MadeArm arm = self();
  arm.label = "|a|";
  write_arms(folder / "a.h5", {arm});
  const std::string text =
      print(make_report(Frame({folder / "a.h5"}), {.metrics = {"nfe"}}), ReportFormat::markdown);
  // The columns are the arm, its forwards and its samples.
  CHECK(has(text, "\n|-------|------------------:|--------:|\n"));
  CHECK(has(text, "\n| \\|a\\| | 16.0 [16.0, 16.0] |       6 |\n"));
}

TEST_CASE("texts that end before their canvas does are told where no metric counts their tokens") {
  const TraceFolder folder("report");
  {
    TraceWriter writer(folder / "a.h5", {{}, {made_run(self())}}, TraceOptions{}, false);
    for (int prompt = 0; prompt < 3; ++prompt) {
      SampleRow row = made_sample(self(), 0, prompt, 0);
      row.valid = row.generated - (prompt == 2);
      writer.sample(row);
    }
    writer.close();
  }
  const Frame frame({folder / "a.h5"});
  const auto told = [&](const std::string& metric) {
    return has(print(make_report(frame, {.metrics = {metric}}), ReportFormat::markdown),
               "Texts end before their canvas does");
  };
  CHECK(told("nfe"));
  CHECK_FALSE(told("valid_per_forward"));
}

TEST_CASE("margins come from the config that the run was given") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), arm = self();
  base.score = arm.score = [](int p) { return p % 2; };
  write_arms(folder / "a.h5", {base, arm},
             {.prompts = 60, .config = "[report]\nmargin_score = 0.2\n"});
  const Frame frame({folder / "a.h5"});
  const std::string text =
      print(make_report(frame, {.metrics = {"exact_match"}}), ReportFormat::json);
  CHECK(has(text, "equivalent within 0.2:"));
  CHECK_FALSE(has(text, "No trace declares"));
}

TEST_CASE("of a score that is an error less is better, where the config says so") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), arm = self();
  base.score = [](int p) { return 3 + 0.1 * (p % 3); };
  arm.score = [](int p) { return 2 + 0.1 * (p % 2); };
  const auto verdict = [&](const std::string& errors) {
    std::filesystem::remove(folder / "a.h5");
    write_arms(folder / "a.h5", {base, arm},
               {.prompts = 60, .config = "[report]\nerrors = " + errors + "\n"});
    const Frame frame({folder / "a.h5"});
    return print(make_report(frame, {.metrics = {"exact_match"}}), ReportFormat::markdown);
  };
  CHECK(has(verdict("other, exact_match"), "exact_match: better"));
  const std::string misspelt = verdict("exact_mach");
  CHECK(has(misspelt, "exact_match: worse"));
  CHECK(has(misspelt,
            "[report] errors names 'exact_mach', which no trace has scored; the scores are "));
  CHECK_FALSE(has(verdict("exact_match"), "[report] errors"));
}

TEST_CASE("seconds are refused where they say nothing, and forwards stand in") {
  const TraceFolder folder("report");
  const auto refused = [&](const MadeRun& one, const MadeRun& two) {
    std::filesystem::remove(folder / "a.h5"), std::filesystem::remove(folder / "b.h5");
    write_arms(folder / "a.h5", {stepwise()}, one);
    write_arms(folder / "b.h5", {self()}, two);
    const Frame frame({folder / "a.h5", folder / "b.h5"});
    const Report report = make_report(frame, {.metrics = {"seconds"}});
    CHECK(cell(report, 1, "nfe").versus->ratio.value == doctest::Approx(1.5));
    CHECK(std::isnan(cell(report, 1, "seconds").versus->ratio.value));
    return cell(report, 1, "seconds").versus->refused;
  };
  CHECK(has(refused({.host = "a"}, {.host = "b"}), "several machines (a, b)"));
  CHECK(has(refused({.started = "2026-01-01T10:00:00Z", .ended = "2026-01-01T10:10:00Z"},
                    {.started = "2026-01-01T10:09:00Z", .ended = "2026-01-01T10:20:00Z"}),
            "at the same time"));
  CHECK(has(refused({.config = "[run]\nbatch = 4\n"}, {}), "batch 4"));

  std::filesystem::remove(folder / "a.h5"), std::filesystem::remove(folder / "b.h5");
  write_arms(folder / "a.h5", {stepwise()},
             {.started = "2026-01-01T10:00:00Z", .ended = "2026-01-01T10:10:00Z"});
  write_arms(folder / "b.h5", {self()},
             {.started = "2026-01-01T10:10:00Z", .ended = "2026-01-01T10:20:00Z"});
  const Frame frame({folder / "a.h5", folder / "b.h5"});
  const Report report = make_report(frame, {.metrics = {"seconds"}});
  CHECK(cell(report, 1, "seconds").versus->ratio.value == doctest::Approx(4));
  CHECK(has(print(report, ReportFormat::markdown), "took no turns in one process"));
}

TEST_CASE("forwards stand in for seconds also where the baseline is the last row") {
  const TraceFolder folder("report");
  write_arms(folder / "a.h5", {self()}, {.host = "a"});
  write_arms(folder / "b.h5", {stepwise()}, {.host = "b"});
  const Report report = make_report(Frame({folder / "a.h5", folder / "b.h5"}),
                                    {.metrics = {"seconds"}, .baseline = "drafter=stepwise"});
  REQUIRE(report.groups[0].baseline == 1);
  CHECK(has(report.times_refused, "several machines (a, b)"));
  CHECK(report.quantities[0].name == "nfe");
}

TEST_CASE("arms are chosen on some prompts and reported on others") {
  const TraceFolder folder("report");
  MadeArm base = stepwise(), lucky = self("2"), steady = self("4");
  base.score = [](int) { return 0.5; };
  // The lucky arm is best where it is chosen.
  lucky.score = [](int p) { return p < 10 ? 1.0 : 0.2; };
  steady.score = [](int) { return 0.7; };
  write_arms(folder / "a.h5", {base, lucky, steady}, {.prompts = 30});
  const Frame frame({folder / "a.h5"});
  const Report report = make_report(frame, {.metrics = {"exact_match"},
                                            .baseline = "drafter=stepwise",
                                            .choose = "exact_match",
                                            .tune = {"10"}});
  REQUIRE(report.groups.size() == 2);
  CHECK(report.groups[1].name == "drafter=self decode.draft_length=2");
  CHECK(cell(report, 1, "exact_match").value.value == doctest::Approx(0.2));
  CHECK(cell(report, 1, "exact_match").prompts == 20);
  CHECK(has(report.notes[0], "the best of 2 in exact_match (1.000) on 10 prompts"));

  // Where a row that was not chosen stands between, what was found is still of the row behind it.
  base.score = [](int p) { return p % 2; };
  lucky.score = [](int p) { return p < 10 ? 1 : 1 - p % 2; };
  base.text = lucky.text = [](int p) { return "text " + std::to_string(p); };
  write_arms(folder / "between.h5", {base, steady, lucky}, {.prompts = 30});
  const Report between =
      make_report(Frame({folder / "between.h5"}), {.metrics = {"exact_match"},
                                                   .baseline = "drafter=stepwise",
                                                   .choose = "exact_match",
                                                   .tune = {"10"}});
  REQUIRE(between.groups.size() == 2);
  CHECK(between.groups[1].name == "drafter=self decode.draft_length=2");
  CHECK(has(between.found(1), "20/20 texts equal"));
  for (const Report::Finding& finding : between.findings) CHECK(finding.group == 1);

  write_arms(folder / "other.h5", {base, lucky, steady}, {.prompts = 10, .first = 25});
  CHECK(has(message_of<DataError>([&] {
              make_report(frame, {.choose = "exact_match", .tune = {folder / "other.h5"}});
            }),
            "prompt 'p25'"));
  write_arms(folder / "apart.h5", {base, lucky, steady}, {.prompts = 10, .first = 100});
  const Report apart = make_report(frame, {.by = {"drafter"},
                                           .metrics = {"exact_match"},
                                           .choose = "exact_match",
                                           .tune = {folder / "apart.h5"}});
  CHECK(cell(apart, 1, "exact_match").value.value == doctest::Approx(0.7));
  CHECK(cell(apart, 1, "exact_match").prompts == 30);
  CHECK(has(message_of<UsageError>([&] { make_report(frame, {.choose = "exact_match"}); }),
            "needs --tune"));
  CHECK(has(message_of<UsageError>(
                [&] { make_report(frame, {.choose = "entropy_bits", .tune = {"5"}}); }),
            "neither more nor less"));
}

TEST_CASE("one run in four vocabularies") {
  const TraceFolder folder("report");
  // 4 steps that draft 3, accept 2 (of which one structural) and commit 3; and an arm whose steps
  // are not verified.
  MadeArm arm = self();
  arm.steps = 4, arm.drafted = 3, arm.accepted = 2, arm.exact = 1;
  MadeArm idle = self("1");
  idle.verified = false, idle.drafted = 1, idle.steps = 12;
  write_arms(folder / "a.h5", {arm, idle}, {.prompts = 2});
  const Frame frame({folder / "a.h5"});
  const auto terms = [&](Dialect dialect) {
    const Metrics quantities(frame);
    AcceptanceSums sums;
    for (const AcceptanceSums& sample : quantities.samples().acceptance()) sums.add(sample);
    std::map<std::string, double> values;
    for (const Term& term : acceptance_terms(
             sums, quantities.samples().by_depth(std::vector<char>(frame.samples().size(), 1)),
             dialect))
      values[term.name] = term.value;
    return values;
  };
  auto own = terms(Dialect::own);  // Both arms: 8 verified steps, 24 unverified.
  CHECK(own["draft acceptance"] == doctest::Approx(2.0 / 3));
  CHECK(own["draft acceptance, tested"] == doctest::Approx(1.0 / 2));
  CHECK(own["accepted length"] == doctest::Approx(2));
  CHECK(own["committed length"] == doctest::Approx(3));
  CHECK(own["tokens a step"] == doctest::Approx(48.0 / 32));
  CHECK(own["tokens a forward"] == doctest::Approx(48.0 / 40));
  CHECK(own["rate at depth 2"] == 0);
  CHECK(own["conditional rate at depth 1"] == 1);
  auto vllm = terms(Dialect::vllm);
  CHECK(vllm["draft acceptance rate"] == doctest::Approx(2.0 / 3));
  CHECK(vllm["mean acceptance length"] == doctest::Approx(3));  // That is 1 + 16 / 8.
  CHECK(vllm["acceptance rate at position 1"] == 1);
  auto bench = terms(Dialect::spec_bench);
  CHECK(bench["mean accepted tokens"] == doctest::Approx(1.5));  // Unverified steps count.
  auto sglang = terms(Dialect::sglang);
  CHECK(sglang["accept length"] ==
        doctest::Approx(6));  // That is 48 tokens over 8 verifications, whoever committed them.
  CHECK(sglang["accept rate"] == doctest::Approx(2.0 / 3));
  CHECK(has(acceptance_table(frame, {}, dialect_of("vllm")),
            "mean acceptance length: 1 + accepted / drafts"));
  CHECK_THROWS_AS(dialect_of("other"), UsageError);
}

TEST_CASE("perplexity as papers print it: the mean of texts, with its standard error") {
  const TraceFolder folder("report");
  {
    TraceWriter writer(folder / "a.h5", {{}, {made_run(stepwise())}}, TraceOptions{}, false);
    for (int prompt = 0; prompt < 4; ++prompt) {
      SampleRow row = made_sample(stepwise(), 0, prompt, 0);
      // Perplexities of 2, 4 and 9; the last text was not judged.
      const double perplexities[] = {2, 4, 9, 1};
      row.judge_tokens = prompt < 3 ? 10 * (prompt + 1) : 0;
      row.judge_nll =
          prompt < 3 ? static_cast<double>(row.judge_tokens) * std::log(perplexities[prompt]) : 7;
      writer.sample(row);
    }
    writer.close();
  }
  const Report report = make_report(
      Frame({folder / "a.h5"}), {.metrics = {"perplexity", "perplexity_mean", "perplexity_error"}});
  CHECK(cell(report, 0, "perplexity_mean").value.value == doctest::Approx(5));
  CHECK(cell(report, 0, "perplexity_error").value.value == doctest::Approx(std::sqrt(13.0 / 3)));
  CHECK(cell(report, 0, "perplexity").value.value ==
        doctest::Approx(std::pow(2.0 * 16 * 729, 1.0 / 6)));  // Weighed by their tokens.
}

TEST_CASE("residual energy and S2D2's AR-ness") {
  const TraceFolder folder("report");
  write_arms(folder / "a.h5", {stepwise(), self()});
  const Report report =
      make_report(Frame({folder / "a.h5"}),
                  {.metrics = {"residual_energy", "residual_energy_step", "ar_local_s2d2"}});
  // Of the four drafts of a step three are judged; each has 1/2 and the target gives it 1/4.
  CHECK(cell(report, 1, "residual_energy").value.value == doctest::Approx(std::log(2.0)));
  CHECK(cell(report, 1, "residual_energy_step").value.value == doctest::Approx(3 * std::log(2.0)));
  CHECK(std::isnan(cell(report, 0, "residual_energy").value.value));  // Nothing was judged.
  CHECK(cell(report, 0, "ar_local_s2d2").value.value == 1);
}

TEST_CASE("S2D2's AR-ness is of the order of commitment, and edits are none") {
  const TraceFolder folder("report");
  {
    TraceWriter writer(folder / "a.h5", {{}, {made_run(stepwise())}}, TraceOptions{}, false);
    SampleRow row = made_sample({.steps = 4, .drafted = 1, .verified = false}, 0, 0, 0);
    // Positions 1, 2, 3 and 5, after which 4 is committed and 2 is edited: one chain of three.
    row.steps[3].tokens[0].position = 5;
    row.steps[3].tokens.push_back(row.steps[3].tokens[0]);
    row.steps[3].tokens[1].position = 4, row.steps[3].tokens[1].rank = 1;
    row.steps[3].tokens.push_back(row.steps[3].tokens[1]);
    row.steps[3].tokens[2].position = 2, row.steps[3].tokens[2].rank = 2;
    row.steps[3].tokens[2].source = static_cast<std::int32_t>(Source::edited);
    row.length = 6;
    writer.sample(row);
    writer.close();
  }
  const Report report = make_report(Frame({folder / "a.h5"}), {.metrics = {"ar_local_s2d2"}});
  CHECK(cell(report, 0, "ar_local_s2d2").value.value == doctest::Approx(1.0 / 3));
}

TEST_CASE("layers are those that forwards went through, whatever the drafter is called") {
  const TraceFolder folder("report");
  MadeArm whole = stepwise(), exits = self();
  whole.draft_layers = exits.verify_layers = 3;
  exits.draft_layers = 2;
  for (const char* const drafter : {"shallow", "mine"}) {
    exits.config = std::string("drafter = ") + drafter + "\n";
    const std::string path = folder / (std::string(drafter) + ".h5");
    write_arms(path, {whole, exits});
    const Report report = make_report(Frame({path}), {.metrics = {"layers"}});
    CHECK(cell(report, 0, "layers").value.value == 3 * 24);
    // Eight drafts, and eight verdicts.
    CHECK(cell(report, 1, "layers").value.value == 2 * 8 + 3 * 8);
  }
}

TEST_CASE("a model that counts no layers has none in a table") {
  const TraceFolder folder("report");
  write_arms(folder / "a.h5", {stepwise(), self()});
  const Report report = make_report(Frame({folder / "a.h5"}), {.metrics = {"layers"}});
  CHECK(std::isnan(cell(report, 1, "layers").value.value));
}

TEST_CASE("what taking drafts back costs is shown a step") {
  const TraceFolder folder("report");
  MadeArm snapshot = self("4"), replay = self("8");
  snapshot.kept_bytes = 96;
  replay.kept_bytes = 24, replay.rerun = 3;
  write_arms(folder / "a.h5", {snapshot, replay});
  const Report report =
      make_report(Frame({folder / "a.h5"}),
                  {.metrics = {"kept_bytes", "rerun"}, .baseline = "decode.draft_length=4"});
  CHECK(cell(report, 0, "kept_bytes").value.value == 96);
  CHECK(cell(report, 1, "kept_bytes").versus->ratio.value == doctest::Approx(4));
  CHECK(cell(report, 0, "rerun").value.value == 0);
  CHECK(cell(report, 1, "rerun").value.value == 3);
}

TEST_CASE("every metric can be asked for") {
  const TraceFolder folder("report");
  write_arms(folder / "a.h5", {stepwise(), self()});
  const Frame frame({folder / "a.h5"});
  ReportRequest request;
  const Metrics quantities(frame);
  for (const Metric& quantity : quantities.all()) request.metrics.push_back(quantity.name);
  CHECK(request.metrics.size() > 30);
  CHECK(request.metrics.back() == "exact_match");
  const Report report = make_report(frame, request);
  CHECK(std::isnan(cell(report, 0, "perplexity").value.value));
  CHECK(cell(report, 1, "positions").value.value == 8 * 12);
  CHECK(cell(report, 1, "seconds_verify").value.value == doctest::Approx(8 * 0.0018));
  CHECK(has(metric_help(frame), "generated tokens a function evaluation of the target"));
}

TEST_CASE("the help on metrics says whether more or less is better") {
  const TraceFolder folder("report");
  write_arms(folder / "a.h5", {stepwise(), self()});
  const std::string help = metric_help(Frame({folder / "a.h5"}));
  const auto row_of = [&](const std::string& name) {
    const std::size_t at = help.find("\n" + name + " ");
    return at == std::string::npos ? "" : help.substr(at + 1, help.find('\n', at + 1) - at - 1);
  };
  CHECK(has(row_of("tokens_per_forward"), " more "));
  CHECK(has(row_of("nfe"), " less "));
  CHECK(has(row_of("generated"), " - "));
  // What a metric means begins below what the others mean.
  CHECK(row_of("nfe").find("function evaluations") == row_of("generated").find("tokens committed"));
}

TEST_CASE("a number that is missing is an empty field") {
  CHECK(full_number(kNotMeasured) == "");
  CHECK(full_number(0.125) == "0.125");
  CHECK(full_number(1.0 / 3) == "0.3333333333");
}

}  // namespace draftlab
