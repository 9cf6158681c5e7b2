#include "core/loop/checked_task.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <limits>

#include "core/base/error.h"

namespace draftlab {
namespace {

// A task of one prompt that does as it is told.
struct Told final : Task {
  int prompts = 1;
  double score_of_all = 1;
  // Whether the prompt grows each time it is handed out.
  bool grows = false;
  mutable int length = 3;

  void load(const Tokenizer*) override {}
  int size() const override { return prompts; }
  Prompt prompt(int) const override {
    Prompt prompt;
    prompt.id = "one";
    prompt.length = grows ? length++ : length;
    return prompt;
  }
  std::vector<Score> score(const Prompt&, const Canvas&) const override {
    return {{"right", score_of_all}};
  }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }
};

CheckedTask checked(const Told& told) {
  return CheckedTask(std::make_unique<Told>(told), {"task", "told"});
}

TEST_CASE("a task that breaks its contract is a fault that names it") {
  Told told;
  CheckedTask fine = checked(told);
  fine.load(nullptr);
  CHECK(fine.prompt(0).length == 3);
  CHECK(fine.prompt(0).length == 3);

  told.prompts = -2;
  CHECK_THROWS_WITH_AS(checked(told).load(nullptr), "task 'told' has -2 prompts", Fault);

  told.grows = true;
  const CheckedTask changing = checked(told);
  changing.prompt(0);
  CHECK_THROWS_WITH_AS(changing.prompt(0),
                       "task 'told' hands out another prompt 0 ('one') than before", Fault);

  told = Told();
  told.score_of_all = std::numeric_limits<double>::infinity();
  const CheckedTask infinite = checked(told);
  const Prompt prompt = infinite.prompt(0);
  CHECK_THROWS_WITH_AS(infinite.score(prompt, Canvas(3, {})),
                       "task 'told' scores a text by right = inf", Fault);
}

// A task whose digest takes until it is let go.
struct Slow final : Task {
  std::shared_future<void> go;
  mutable std::atomic<bool> done = false;
  bool fails = false;

  explicit Slow(std::shared_future<void> go) : go(std::move(go)) {}
  void load(const Tokenizer*) override {}
  int size() const override { return done ? 1 : 0; }
  Prompt prompt(int) const override { return {}; }
  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }
  std::string digest() const override {
    go.wait();
    done = true;
    if (fails) throw DataError("a prompt cannot be made");
    return "abc";
  }
};

TEST_CASE("a digest that was begun is computed meanwhile, and all else waits for it") {
  std::promise<void> letting_go;
  const std::shared_future<void> go = letting_go.get_future().share();
  CheckedTask task(std::make_unique<Slow>(go), {"task", "slow"});
  task.begin_digest();
  CHECK(go.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  letting_go.set_value();
  CHECK(task.size() == 1);  // It is 0 until the digest is done.
  CHECK(task.digest() == "abc");
  CHECK(task.digest() == "abc");

  auto failing = std::make_unique<Slow>(go);
  failing->fails = true;
  CheckedTask failed(std::move(failing), {"task", "slow"});
  failed.begin_digest();
  CHECK(failed.size() == 1);
  CHECK_THROWS_WITH_AS(failed.digest(), "a prompt cannot be made", DataError);
}

}  // namespace
}  // namespace draftlab
