// The toy that reads a random canvas: its posteriors against Bayes' rule by hand.
#include <doctest/doctest.h>

#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

struct NoisyToy {
  std::unique_ptr<Model> model;

  NoisyToy(void (*plugin)(Registries&), const std::string& name, const std::string& options) {
    Registries registries;
    plugin(registries);
    Diagnostics diagnostics;
    const std::string section = "model." + name;
    const Config config = Config::parse("[" + section + "]\n" + options, "test", diagnostics);
    const auto bound = registries.models.find(name)->bind(config, section, diagnostics);
    diagnostics.raise();
    model = bound.make();
    model->load({});
  }
  Distribution asks(const Canvas& canvas, std::int32_t position,
                    const std::vector<Node>& drafts = {}) const {
    const int node = static_cast<int>(drafts.size()) - 1;
    const Question question{
        .view = View::bidirectional, .nodes = drafts, .asks = {{node, {position}}}};
    const auto sequence = model->open(canvas, {});
    Answer answer;
    Pending pending{sequence.get(), &question, &answer};
    model->answer(std::span(&pending, 1));
    return answer.at(node, position);
  }
};

TEST_CASE(
    "noisy-table: what a position shows is evidence of its token, by the level of the noise") {
  const NoisyToy toy(register_model_noisy_table, "noisy-table",
                     "vocabulary = 2\nlength = 2\nmarginal = 3,1\nlevel = 0.4\n");
  CHECK(toy.model->facts().random_canvas);
  CHECK(toy.model->facts().mask == kNoToken);
  Canvas canvas(2, {});
  // A position that shows nothing has the law of the table.
  CHECK(toy.asks(canvas, 0).probability(0) == doctest::Approx(.75));
  canvas.show(0, 1);
  canvas.show(1, 0);
  // The truth shows itself with probability .6 + .2, and as the other with .2.
  CHECK(toy.asks(canvas, 0).probability(0) == doctest::Approx(.75 * .2 / (.75 * .2 + .25 * .8)));
  CHECK(toy.asks(canvas, 1).probability(0) == doctest::Approx(.75 * .8 / (.75 * .8 + .25 * .2)));
}

TEST_CASE("noisy-table: noise elsewhere is weaker evidence than a token that is known") {
  const std::string options = "vocabulary = 3\nlength = 3\nseed = 4\n";
  const NoisyToy noisy(register_model_noisy_table, "noisy-table", options + "level = 0.3\n"),
      noise(register_model_noisy_table, "noisy-table", options + "level = 1\n"),
      known(register_model_table, "table", options + "kind = joint\n");
  const auto law = [](const std::vector<std::pair<std::int32_t, Token>>& tokens,
                      const NoisyToy& toy, std::int32_t position) {
    Canvas canvas(3, {});
    for (const auto& [at, token] : tokens) canvas.commit(at, token);
    return toy.asks(canvas, position);
  };
  Canvas canvas(3, {});
  canvas.show(0, 2), canvas.show(1, 1), canvas.show(2, 0);
  for (Token token = 0; token < 3; ++token) {
    // p(x_1) = sum over x_0 and x_2 of their chances given what is shown, by the chain rule.
    double mass = 0;
    const auto shows = [](Token truth, Token shown) { return .1 + (truth == shown ? .7 : 0); };
    for (Token a = 0; a < 3; ++a)
      for (Token b = 0; b < 3; ++b)
        mass += law({}, known, 0).probability(a) * law({{0, a}}, known, 1).probability(token) *
                law({{0, a}, {1, token}}, known, 2).probability(b) * shows(a, 2) * shows(b, 0) *
                shows(token, 1);
    double all = 0;
    for (Token other = 0; other < 3; ++other)
      for (Token a = 0; a < 3; ++a)
        for (Token b = 0; b < 3; ++b)
          all += law({}, known, 0).probability(a) * law({{0, a}}, known, 1).probability(other) *
                 law({{0, a}, {1, other}}, known, 2).probability(b) * shows(a, 2) * shows(b, 0) *
                 shows(other, 1);
    CHECK(noisy.asks(canvas, 1).probability(token) == doctest::Approx(mass / all).epsilon(1e-10));
    // A draft is the truth, and at level 1 nothing else tells anything.
    CHECK(noise.asks(canvas, 1, {{kRoot, 0, 1}}).probability(token) ==
          doctest::Approx(law({{0, 1}}, known, 1).probability(token)).epsilon(1e-10));
  }
}

}  // namespace
}  // namespace draftlab
