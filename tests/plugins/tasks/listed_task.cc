#include "plugins/tasks/listed_task.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/plugins/tasks/words.h"

namespace draftlab {
namespace {

// A task whose prompts are one number each; it says which were made.
class Numbers final : public ListedTask {
 public:
  explicit Numbers(bool listed) : ListedTask("numbers"), listed_(listed) {}
  void load(const Tokenizer* tokenizer) override {
    start(tokenizer);
    if (listed_) {
      for (int i = 0; i < 5; ++i) add(number(i));
    } else {
      make_when_asked(5, [this](int i) {
        made.push_back(i);
        return number(i);
      });
    }
  }
  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }

  std::vector<int> made;

 private:
  static Prompt number(int i) {
    Prompt prompt;
    prompt.id = std::to_string(i);
    prompt.reference = {i};
    return prompt;
  }
  bool listed_;
};

}  // namespace

TEST_CASE("tasks: prompts are made in order, once, and as far as they are asked for") {
  const Words words;
  Numbers task(false);
  task.load(&words);
  CHECK(task.size() == 5);
  CHECK(task.made.empty());
  CHECK(task.prompt(2).id == "2");
  CHECK(task.made == std::vector<int>{0, 1, 2});
  CHECK(task.prompt(0).id == "0");
  CHECK_THROWS_AS(task.prompt(5), std::out_of_range);
  const std::string digest = task.digest();
  CHECK(task.made == std::vector<int>{0, 1, 2, 3, 4});

  SUBCASE("their digest is that of a list") {
    Numbers listed(true);
    listed.load(&words);
    CHECK(listed.size() == 5);
    CHECK(listed.digest() == digest);
    listed.load(&words);
    CHECK(listed.size() == 5);
    CHECK(listed.digest() == digest);
  }
  SUBCASE("a task that is loaded again makes them anew") {
    task.made.clear();
    task.load(&words);
    CHECK(task.made.empty());
    CHECK(task.digest() == digest);
  }
}

}  // namespace draftlab
