// What a worker makes of cells whose data changed, whose processes died, and that were taken over.
#include "experiments/sweep/sweep_worker.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

std::string data_of_task;                 // The text of which the digest is taken.
std::function<void()> at_first_decision;  // Called at the first decision of a decode.

// The toy's prompt, with a digest that can change.
class Changing final : public Task {
 public:
  struct Options {
    void declare(OptionSet&) {}
  };
  explicit Changing(const Options&) {}
  void load(const Tokenizer*) override { digest_ = id_of(data_of_task); }
  int size() const override { return 1; }
  Prompt prompt(int) const override {
    Prompt prompt;
    prompt.id = "changing";
    prompt.length = 5;
    prompt.given = {{0, 1}};
    return prompt;
  }
  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }
  std::string digest() const override { return digest_; }

 private:
  std::string digest_;
};

// Does something once, as if another process did it meanwhile.
class Meanwhile final : public Router {
 public:
  struct Options {
    void declare(OptionSet&) {}
  };
  explicit Meanwhile(const Options&) {}
  Route decide(const StepView&) const override {
    if (at_first_decision) std::exchange(at_first_decision, {})();
    return {.verify = true};
  }
};

const Registries& changing_parts() {
  static const Registries all = [] {
    Registries made;
    register_builtin_plugins(made);
    register_sections(made);
    made.tasks.add<Changing>("changing", "a digest that changes");
    made.routers.add<Meanwhile>("meanwhile", "something happens");
    return made;
  }();
  return all;
}

SweepFolder frozen(const TraceFolder& folder, const std::string& lines) {
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "model = table\ntask = changing\nrouter = meanwhile\n" + lines, "a.ini", diagnostics);
  diagnostics.raise();
  data_of_task = "one";
  return SweepFolder::freeze(folder / "sweep", config, changing_parts());
}

Attempts attempts(const SweepFolder& folder, std::size_t cell = 0) {
  return Claims(folder.attempts(), folder.lease()).of(folder.cells().at(cell).id);
}

// Claims a cell in a process that dies over it.
void claim_and_die(const SweepFolder& folder, const std::string& round) {
  const pid_t child = ::fork();
  if (child == 0) {
    Claims claims(folder.attempts(), folder.lease());
    ::_exit(claims.claim(folder.cells()[0].id, 1, round.empty() ? process_identity() : round) ? 0
                                                                                              : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(status == 0);
}

}  // namespace

TEST_CASE("data that changes between freezing and decoding is noticed") {
  const TraceFolder folder("worker");
  const SweepFolder sweep = frozen(folder, "[sweep]\ndrafter = self, ngram\n");
  data_of_task = "two";
  CHECK(work(sweep, {}, changing_parts()) == 1);
  for (std::size_t cell = 0; cell < 2; ++cell) {
    REQUIRE(attempts(sweep, cell).size() == 1);
    CHECK(attempts(sweep, cell)[0].state == AttemptState::failed);
    CHECK(attempts(sweep, cell)[0].exit_status == 65);
    CHECK(attempts(sweep, cell)[0].reason.find("has changed since the sweep was frozen") !=
          std::string::npos);
  }
}

TEST_CASE("data that changes between two workers is noticed by the second") {
  const TraceFolder folder("worker");
  const SweepFolder sweep = frozen(folder, "[sweep]\ndrafter = self, ngram\n");
  WorkerOptions first, second;
  first.last = 1, second.first = 1;
  CHECK(work(sweep, first, changing_parts()) == 0);
  CHECK(attempts(sweep, 0)[0].state == AttemptState::done);
  data_of_task = "two";
  CHECK(work(sweep, second, changing_parts()) == 1);
  CHECK(attempts(sweep, 1).at(0).state == AttemptState::failed);
}

TEST_CASE("an attempt whose sweep died with it is interrupted, not failed") {
  const TraceFolder folder("worker");
  const SweepFolder sweep = frozen(folder, "");
  claim_and_die(sweep, "");  // The round is the process itself: starter and worker are gone.
  CHECK(work(sweep, {}, changing_parts()) == 0);
  const Attempts made = attempts(sweep);
  REQUIRE(made.size() == 2);
  CHECK(made[0].state == AttemptState::interrupted);
  CHECK(made[1].state == AttemptState::done);
}

TEST_CASE("an attempt that died while its sweep lives is a failure") {
  const TraceFolder folder("worker");
  const SweepFolder sweep = frozen(folder, "");
  claim_and_die(sweep, process_identity());
  CHECK(work(sweep, {}, changing_parts()) == 0);
  CHECK(attempts(sweep).at(0).state == AttemptState::failed);
}

TEST_CASE("a worker that was replaced stops, and leaves the cell to its successor") {
  const TraceFolder folder("worker");
  const SweepFolder sweep = frozen(folder, "[run]\nsamples = 20\n");
  const std::string id = sweep.cells()[0].id;
  Claims successor(sweep.attempts(), sweep.lease());
  at_first_decision = [&] { CHECK(successor.claim(id, 2, "round")); };
  CHECK(work(sweep, {}, changing_parts()) == 1);
  const Attempts made = attempts(sweep);
  REQUIRE(made.size() == 2);
  CHECK(made[0].state == AttemptState::interrupted);
  CHECK(made[1].state == AttemptState::running);
  CHECK_FALSE(std::filesystem::exists(sweep.trace(sweep.cells()[0])));
}

TEST_CASE("a cell whose trace is lost or damaged is decoded again") {
  const TraceFolder folder("worker");
  const SweepFolder sweep = frozen(folder, "");
  const SweepCell& cell = sweep.cells()[0];
  REQUIRE(work(sweep, {}, changing_parts()) == 0);
  const Claims claims(sweep.attempts(), sweep.lease());
  CHECK(sweep.standing(cell, attempts(sweep), claims) == Standing::done);
  CHECK(sweep.set_aside_damaged() == 0);
  {
    std::fstream file(sweep.trace(cell), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(sweep.trace(cell)) / 2));
    file << "damage";
  }
  CHECK(sweep.set_aside_damaged() == 1);
  CHECK(sweep.standing(cell, attempts(sweep), claims) == Standing::missing);
  CHECK(work(sweep, {}, changing_parts()) == 0);
  CHECK(sweep.standing(cell, attempts(sweep), claims) == Standing::done);
}

}  // namespace draftlab
