#include "core/loop/record.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/core/loop/toy.h"

namespace draftlab {
namespace {

struct Made {
  Window window{{4, 5}, 2};
  Proposal proposal;
  Route route;
  Verdict verdict;
  Recording wanted;

  Made() {
    proposal.nodes = {{kRoot, 4, 1}, {0, 5, 2}};
    proposal.raw = {toy::law(4), toy::law(5)};
  }
  StepRow row() const {
    StepRow row;
    record({window, proposal, DraftNumbers(proposal), route, verdict}, wanted, row);
    return row;
  }
};

TEST_CASE("scores are cut to the range that a file can hold") {
  Made made;
  made.route.score = std::numeric_limits<double>::infinity();
  CHECK(made.row().score == kHighestScore);
  made.route.score = -std::numeric_limits<double>::infinity();
  CHECK(made.row().score == kLowestScore);
  made.route.score = kNotMeasured;
  CHECK(std::isnan(made.row().score));
}

TEST_CASE("a draft's row has its numbers, its place on the path and what became of it") {
  Made made;
  made.verdict.judged = {{0.8, 1, 0.75, true}};
  made.wanted.top_k = 2;
  const StepRow row = made.row();
  REQUIRE(row.drafts.size() == 2);
  CHECK(row.drafts[0].depth == 0);
  CHECK(row.drafts[1].depth == 1);
  CHECK(row.drafts[0].confidence == doctest::Approx(0.8));
  CHECK(row.drafts[0].margin == doctest::Approx(0.7));
  CHECK(row.drafts[0].q == 1);
  CHECK(row.drafts[0].p == 0.8);
  CHECK(row.drafts[0].accept == 0.75);
  CHECK(row.drafts[0].accepted == 1);
  CHECK(row.drafts[1].accepted == -1);
  REQUIRE(row.drafts[1].top.size() == 2);
  CHECK(row.drafts[1].top[0].first == 2);
}

TEST_CASE("a vector's draft has the densities and proposals of its own judgement") {
  Made made;
  made.verdict.judged = {{0.8, 1, 0.75, true}, {0.8, 1, 0.75, true}};
  made.verdict.judged[0].vector = {.log_target = -1, .log_drawn = -2, .proposals = 3};
  made.verdict.judged[1].vector = {.log_target = -3, .log_drawn = -4, .proposals = 5};
  made.verdict.judged[1].vector.capped = true;
  const StepRow row = made.row();
  REQUIRE(row.drafts.size() == 2);
  CHECK(row.drafts[0].log_p == -1);
  CHECK(row.drafts[1].log_q == -4);
  CHECK(row.drafts[0].proposals == 3);
  CHECK(row.drafts[1].proposals == 5);
  CHECK(row.drafts[0].capped == 0);
  CHECK(row.drafts[1].capped == 1);
}

TEST_CASE("drafts that are vectors show their trajectories, and drafts that are ids show none") {
  const Made ids;
  CHECK(DraftNumbers(ids.proposal).spread().size() == 0);
  CHECK(DraftNumbers(ids.proposal).entropy().size() == 2);
  Made vectors;
  vectors.proposal.raw.clear();
  for (const double last : {1.0, 3.0}) {
    Trajectory token;
    token.steps = 1;
    token.states = {Eigen::VectorXd::Zero(2)};
    token.take(Mixture::normal(Eigen::Array2d(0, 0), Eigen::Array2d(0.5, 0.5)),
               Eigen::Vector2d(2 * last, -2 * last));
    vectors.proposal.trajectories.push_back(token);
  }
  const DraftNumbers numbers(vectors.proposal);
  CHECK(std::isnan(numbers.entropy()[0]));
  REQUIRE(numbers.spread().size() == 2);
  CHECK(numbers.spread()[0] == 1);
  CHECK(numbers.spread()[1] == 9);
  CHECK(numbers.surprise()[1] == 0);
  CHECK(numbers.deviation()[1] == doctest::Approx(0.5));
}

TEST_CASE("tokens are ranked edits first, and only commits of drafts have a probability") {
  Made made;
  made.verdict.judged = {{0.8, 1, 1, true}};
  made.verdict.edits = {{2, 0, Source::edited}};
  made.verdict.commits = {{4, 1, Source::accepted}, {5, 0, Source::resampled}};
  made.verdict.taken_back = {{3, 1, Source::taken_back}};
  const StepRow row = made.row();
  REQUIRE(row.tokens.size() == 4);
  for (std::int32_t i = 0; i < 4; ++i) CHECK(row.tokens[i].rank == i);
  CHECK(row.tokens[0].position == 2);
  CHECK(row.tokens[3].position == 3);
  CHECK(row.tokens[1].p == 0.8);
  CHECK(std::isnan(row.tokens[2].p));
  CHECK(row.accepted == 1);
  CHECK(row.committed == 2);
}

}  // namespace
}  // namespace draftlab
