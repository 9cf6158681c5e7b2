#include <doctest/doctest.h>

#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"

namespace draftlab {

namespace {

// A table with the given options, as a config would make it, and one committed state of it.
struct Toy {
  std::unique_ptr<Model> model;

  explicit Toy(const std::string& options, int length = 4) {
    Registries registries;
    register_model_table(registries);
    Diagnostics diagnostics;
    const Config config = Config::parse(
        "[model.table]\nvocabulary = 3\nlength = " + std::to_string(length) + "\n" + options,
        "test", diagnostics);
    const auto bound = registries.models.find("table")->bind(config, "model.table", diagnostics);
    diagnostics.raise();
    model = bound.make();
    model->load({});
  }

  Blocks blocks = {};

  // p(token at `position` | committed), asked at the committed state.
  Distribution committed(const Canvas& canvas, std::int32_t position, View view = View::causal,
                         Kind kind = Kind::draft) const {
    return at(canvas, {}, position, view, kind);
  }
  // The same after a path of drafts.
  Distribution at(const Canvas& canvas, const std::vector<std::pair<std::int32_t, Token>>& path,
                  std::int32_t position, View view = View::causal, Kind kind = Kind::verify) const {
    Question question{.kind = kind, .view = view, .nodes = {}, .asks = {}};
    for (const auto& [i, token] : path)
      question.nodes.push_back({static_cast<int>(question.nodes.size()) - 1, i, token});
    const int node = static_cast<int>(path.size()) - 1;
    question.asks.push_back({node, {position}});
    const auto sequence = model->open(canvas, blocks);
    Answer answer;
    Pending pending{sequence.get(), &question, &answer};
    model->answer(std::span(&pending, 1));
    return answer.at(node, position);
  }
};

using Given = std::vector<std::pair<std::int32_t, Token>>;

double distance(const Distribution& a, const Distribution& b) {
  return (a.probabilities() - b.probabilities()).abs().maxCoeff();
}

Canvas canvas(const Given& given, const Given& committed = {}) {
  Canvas canvas(4, given);
  for (const auto& [position, token] : committed) canvas.commit(position, token);
  return canvas;
}

}  // namespace

TEST_CASE("joint: the chain rule gives one joint, whatever the order, view or prompt") {
  const Toy toy("kind = joint");
  const Canvas start = canvas({{2, 1}});
  for (Token a = 0; a < 3; ++a) {
    for (Token b = 0; b < 3; ++b) {
      const double forwards =
          toy.committed(start, 0).probability(a) * toy.at(start, {{0, a}}, 1).probability(b);
      const double backwards =
          toy.committed(start, 1).probability(b) * toy.at(start, {{1, b}}, 0).probability(a);
      CHECK(forwards == doctest::Approx(backwards).epsilon(1e-12));
    }
  }
  CHECK(distance(toy.committed(canvas({{2, 1}, {0, 2}}), 1),
                 toy.committed(canvas({{2, 1}}, {{0, 2}}), 1)) == 0);
  CHECK(distance(toy.committed(start, 0), toy.committed(start, 0, View::bidirectional)) == 0);
}

TEST_CASE("ordered: the prompt set and the order of what was generated matter, the view does not") {
  const Toy toy("kind = ordered");
  const Distribution first = toy.committed(canvas({{2, 1}}, {{0, 2}, {1, 1}}), 3);
  CHECK(distance(first, toy.committed(canvas({{2, 1}}, {{1, 1}, {0, 2}}), 3)) > 1e-3);
  CHECK(distance(first, toy.committed(canvas({{2, 1}, {0, 2}}, {{1, 1}}), 3)) > 1e-3);
  CHECK(distance(first, toy.at(canvas({{2, 1}}, {{0, 2}}), {{1, 1}}, 3)) ==
        0);  // Drafted and committed tokens give the same.
  CHECK(distance(first, toy.at(canvas({{2, 1}}), {{0, 2}, {1, 1}}, 3, View::bidirectional)) == 0);
  CHECK(first.probabilities().minCoeff() > 0);
}

TEST_CASE(
    "ordered with promote: draft questions, and they alone, take generated tokens for prompt") {
  const Toy toy("kind = ordered\npromote = true"), honest("kind = ordered");
  const Canvas state = canvas({{2, 1}}, {{0, 2}});
  CHECK(distance(toy.committed(state, 1, View::causal, Kind::verify), honest.committed(state, 1)) ==
        0);
  CHECK(distance(toy.committed(state, 1), honest.committed(state, 1)) > 1e-3);
  CHECK(distance(toy.committed(state, 1), toy.committed(canvas({{2, 1}, {0, 2}}), 1)) == 0);
}

TEST_CASE(
    "views: the causal view sees what is left of a position, the bidirectional one all of its "
    "block") {
  Toy toy("kind = views");
  toy.blocks = {.size = 2, .origin = 0};
  const Canvas state = canvas({{0, 1}, {3, 2}}), other = canvas({{0, 1}, {3, 0}}),
               left = canvas({{0, 2}, {3, 2}});
  CHECK(distance(toy.committed(state, 2), toy.committed(state, 2, View::bidirectional)) > 1e-3);
  CHECK(distance(toy.committed(state, 2), toy.committed(other, 2)) == 0);
  CHECK(distance(toy.committed(state, 2, View::bidirectional),
                 toy.committed(other, 2, View::bidirectional)) > 1e-3);
  CHECK(distance(toy.committed(state, 1, View::bidirectional),
                 // This belongs to the next block.
                 toy.committed(other, 1, View::bidirectional)) == 0);
  CHECK(distance(toy.committed(state, 2), toy.committed(left, 2)) > 1e-3);
}

TEST_CASE("views: in a block of one position both views are one") {
  Toy toy("kind = views");
  toy.blocks = {.size = 1, .origin = 0};
  const Canvas state = canvas({{0, 1}, {3, 2}});
  CHECK(distance(toy.committed(state, 2), toy.committed(state, 2, View::bidirectional)) == 0);
  Toy wide("kind = views");
  wide.blocks = {.size = 2, .origin = 0};
  CHECK(distance(toy.committed(state, 2), wide.committed(state, 2)) ==
        0);  // The causal view knows no blocks.
}

TEST_CASE("views: a cache with a view of whole blocks changes what lies behind it") {
  const Canvas of_prompt = canvas({{0, 1}, {1, 2}}), generated = canvas({{0, 1}}, {{1, 2}});
  const auto moved = [&](const std::string& cache, const Canvas& state, std::int32_t size,
                         std::int32_t position) {
    Toy causal("kind = views"), other("kind = views\ncache = " + cache);
    causal.blocks = other.blocks = {.size = size, .origin = 0};
    return distance(causal.committed(state, position), other.committed(state, position));
  };
  CHECK(moved("block", of_prompt, 2, 2) > 1e-3);
  CHECK(moved("block", generated, 2, 2) > 1e-3);
  CHECK(moved("prompt", of_prompt, 2, 2) > 1e-3);
  CHECK(moved("prompt", generated, 2, 2) == 0);
  CHECK(moved("block", of_prompt, 4, 2) == 0);  // Nothing is cached before the first block.
  CHECK(moved("block", of_prompt, 1, 2) == 0);  // A block of one is cached causally.
}

TEST_CASE("views: a tentative position is answered with its own token in sight") {
  const Toy toy("kind = views");
  Canvas one(4, {}), other(4, {});
  one.commit(0, 1, true);
  other.commit(0, 2, true);
  CHECK(distance(toy.committed(one, 0, View::bidirectional),
                 toy.committed(other, 0, View::bidirectional)) > 1e-3);
}

// What the caches of six positions, two of them prompt, make due while they are filled.
static std::string dues(const std::string& options, int block) {
  const Toy toy("kind = views\n" + options, 6);
  const Given given{{0, 1}, {1, 2}};
  Canvas state(6, given);
  const auto sequence = toy.model->open(state, {.size = block, .origin = 0});
  std::string due;
  const auto refresh = [&] {
    while (const std::optional<Question> question = toy.model->due(*sequence)) {
      due += question->kind == Kind::prefill ? "P" : "C";
      for (const Ask& ask : question->asks) due += std::to_string(ask.positions.front());
      Answer answer;
      Pending pending{sequence.get(), &*question, &answer};
      toy.model->answer(std::span(&pending, 1));
    }
  };
  refresh();
  for (const std::int32_t i : {3, 2, 4, 5}) {
    state.commit(i, 0, i == 5);
    due += ".";
    refresh();
  }
  state.finish(5);
  refresh();
  return due;
}

TEST_CASE("forwards for the cache: the prompt's whole blocks, then each block that is final") {
  CHECK(dues("", 2) == "....");
  CHECK(dues("commit = ride", 2) == "P....");
  CHECK(dues("commit = separate", 2) == "P..C..C");  // Position 5 is tentative at first.
  CHECK(dues("commit = separate", 1) == "P..CC.C.C");
  CHECK(dues("commit = separate", 4) == "..C..C");  // No block is all prompt.
  CHECK(dues("commit = separate\nshifted = true", 2) == "P2..C4..C");
}

TEST_CASE("sets: one answer a visible set, and no joint behind the answers") {
  const Toy toy("kind = sets");
  CHECK(distance(toy.committed(canvas({{2, 1}}, {{0, 2}, {1, 1}}), 3),
                 toy.committed(canvas({{2, 1}, {1, 1}}, {{0, 2}}), 3)) == 0);
  const Canvas start = canvas({{2, 1}});
  double worst = 0;
  for (Token a = 0; a < 3; ++a) {
    for (Token b = 0; b < 3; ++b) {
      worst = std::max(worst, std::abs(toy.committed(start, 0).probability(a) *
                                           toy.at(start, {{0, a}}, 1).probability(b) -
                                       toy.committed(start, 1).probability(b) *
                                           toy.at(start, {{1, b}}, 0).probability(a)));
    }
  }
  CHECK(worst > 1e-3);
}

TEST_CASE("a table is its options; rows and positions are counted by form") {
  CHECK(distance(Toy("seed = 1").committed(canvas({}), 0),
                 Toy("seed = 1").committed(canvas({}), 0)) == 0);
  CHECK(distance(Toy("seed = 1").committed(canvas({}), 0),
                 Toy("seed = 2").committed(canvas({}), 0)) > 1e-6);

  const Toy toy("");
  const Canvas start = canvas({{2, 1}});
  const auto sequence = toy.model->open(start);
  Question question{.kind = Kind::verify,
                    .view = View::causal,
                    .nodes = {{kRoot, 0, 1}, {0, 1, 1}, {0, 1, 2}},
                    .asks = {{0, {1}}, {1, {3}}, {2, {3}}}};
  Answer answer;
  Pending pending{sequence.get(), &question, &answer};
  toy.model->answer(std::span(&pending, 1));
  CHECK(sequence->counts()[Kind::verify].rows == 2);  // Two paths.
  CHECK(sequence->counts()[Kind::verify].positions == 6);
  question.view = View::bidirectional;
  Answer again;
  Pending tree{sequence.get(), &question, &again};
  toy.model->answer(std::span(&tree, 1));
  CHECK(sequence->counts()[Kind::verify].rows == 2 + 3);  // Three nodes.
}

TEST_CASE("what a table cannot hold or answer") {
  const Toy toy("");
  CHECK_THROWS_AS(toy.model->open(Canvas(5, {})), ConfigError);
  CHECK_THROWS_AS(toy.model->open(canvas({{0, 3}})), ConfigError);
  CHECK_THROWS_AS(toy.committed(canvas({{2, 1}}), 2), Fault);
}

}  // namespace draftlab
