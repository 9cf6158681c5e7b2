#include "core/loop/checked_task.h"

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace draftlab
