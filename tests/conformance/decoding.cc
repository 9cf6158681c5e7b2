// What every part of the loop must do on an exact toy, whatever its name: decodes end, positions
// are filled once, counts are the model's, results depend on nothing but config and seed, and
// batching changes nothing.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "core/config/composition.h"
#include "core/loop/choice.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"

using namespace draftlab;

namespace {

struct Setup {
  Registries registries;
  Setup() { register_builtin_plugins(registries); }

  Composition compose_with(const std::string& lines, const std::string& model = "table") const {
    const std::string named = "model = " + model + "\nmodel.draft = table\ntask = positions\n",
                      toy =
                          "[task.positions]\nlength = 6\nprompt = 0:1,1:0\n[model.draft]\nlength = "
                          "6\nseed = 8\n[model.table]\nlength = 6\n";
    Diagnostics diagnostics;
    Composition composition = compose(Config::parse(named + lines + toy, "test.ini", diagnostics),
                                      registries, diagnostics);
    diagnostics.raise();
    return composition;
  }

  // The same for parts of vector tokens, which ask the laws of reverse steps; four unknowns behind
  // the class.
  template <class Interface>
  static bool of_vectors(const Registry<Interface>& registry, const std::string& name) {
    Diagnostics diagnostics;
    const std::vector<Form> asked =
        registry.find(name)->bind(Config(), "", diagnostics, &registry).make()->asks();
    return std::count(asked.begin(), asked.end(), Form::reverse) > 0;
  }
  // What an unmasker does with a token: it commits it for good, may take it back, or shows it.
  enum class Does { keep, take_back, show };
  std::vector<std::string> unmaskers(Does what) const {
    std::vector<std::string> names;
    for (const std::string& name : registries.unmaskers.names()) {
      Diagnostics diagnostics;
      const auto part = registries.unmaskers.find(name)
                            ->bind(Config(), "", diagnostics, &registries.unmaskers)
                            .make();
      const Does its = part->takes_back() ? Does::take_back
                       : part->shows()    ? Does::show
                                          : Does::keep;
      if (its == what) names.push_back(name);
    }
    return names;
  }
  Composition compose_vectors(const std::string& lines) const {
    const std::string named =
        "model = linear-gaussian\nmodel.draft = linear-gaussian\ntask = positions\ndrafter = "
        "diffusion\nverifier = density\n";
    Diagnostics diagnostics;
    Composition composition =
        compose(Config::parse(
                    named + lines +
                        "[task.positions]\nlength = 5\nprompt = 0:1\n[model.draft]\nshift = 0.2\n",
                    "test.ini", diagnostics),
                registries, diagnostics);
    diagnostics.raise();
    return composition;
  }
};

std::vector<SampleRow> decode(const Composition& composition, int sequences, std::uint64_t seed) {
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  const auto task = composition.task.make();
  task->load(nullptr);
  const Prompt prompt = task->prompt(0);
  std::vector<std::unique_ptr<SampledChance>> chances;
  std::vector<std::unique_ptr<Session>> decoders;
  std::vector<Asking<SampleRow>> work;
  for (int i = 0; i < sequences; ++i) {
    chances.push_back(std::make_unique<SampledChance>(seed));
    decoders.push_back(std::make_unique<Decoder>(
        composition, models, prompt, Randomness{*chances.back(), static_cast<std::uint64_t>(i)}));
    work.push_back(decoders.back()->decode());
  }
  for (auto& one : work) one.start();
  for (;;) {
    std::vector<Session*> waiting;
    for (int i = 0; i < sequences; ++i)
      if (!work[i].done()) waiting.push_back(decoders[i].get());
    if (waiting.empty()) break;
    answer_pending(models, waiting);
  }
  std::vector<SampleRow> rows;
  for (auto& one : work) rows.push_back(one.take());
  return rows;
}

std::vector<std::pair<int, int>> tokens_of(const SampleRow& row) {
  std::vector<std::pair<int, int>> tokens;
  for (const StepRow& step : row.steps)
    for (const TokenRow& token : step.tokens) tokens.emplace_back(token.position, token.token);
  return tokens;
}

std::vector<Eigen::VectorXd> values_of(const SampleRow& row) {
  std::vector<Eigen::VectorXd> values;
  for (const StepRow& step : row.steps)
    for (const TokenRow& token : step.tokens) values.push_back(token.value);
  return values;
}

void check_decoding(const Composition& composition, int prompt = 2) {
  const std::vector<SampleRow> batch = decode(composition, 8, 3);
  for (int i = 0; i < 8; ++i) {
    const SampleRow& row = batch[i];
    std::set<int> filled;
    Counts counts;
    for (const StepRow& step : row.steps) {
      CHECK(step.committed == static_cast<int>(step.tokens.size()));
      CHECK(step.committed >= 1);
      CHECK(step.accepted <= step.drafted);
      for (const TokenRow& token : step.tokens) {
        CHECK(token.position >= prompt);  // The prompt stands.
        CHECK(filled.insert(token.position).second);
      }
      for (const DraftRow& draft : step.drafts) {
        if (draft.accepted < 0) continue;
        CHECK_FALSE(draft.accept < 0);  // It may not be known.
        CHECK_FALSE(draft.accept > 1);
      }
      for (int kind = 0; kind < kKinds; ++kind) {
        counts.of[kind].calls += step.counts.of[kind].calls;
        counts.of[kind].rows += step.counts.of[kind].rows;
        counts.of[kind].positions += step.counts.of[kind].positions;
      }
    }
    CHECK(filled.size() == 4);
    CHECK(row.generated == 4);
    // What steps cost adds up to what the sample did.
    CHECK(counts.nfe() == row.counts.nfe());
    for (int kind = 0; kind < kKinds; ++kind) {
      CHECK(counts.of[kind].calls == row.counts.of[kind].calls);
      CHECK(counts.of[kind].rows == row.counts.of[kind].rows);
      CHECK(counts.of[kind].positions == row.counts.of[kind].positions);
    }
    CHECK(row.counts.nfe() + row.drafter_counts.nfe() >= 1);
  }
  // The same alone as in a batch, and again.
  const std::vector<SampleRow> alone = decode(composition, 1, 3);
  CHECK(tokens_of(alone[0]) == tokens_of(batch[0]));
  CHECK(values_of(alone[0]) == values_of(batch[0]));
  CHECK(alone[0].counts.nfe() == batch[0].counts.nfe());
}

}  // namespace

TEST_CASE("every drafter decodes") {
  const Setup setup;
  for (const std::string& name : setup.registries.drafters.names()) {
    CAPTURE(name);
    if (Setup::of_vectors(setup.registries.drafters, name))
      check_decoding(setup.compose_vectors(""), 1);
    else
      check_decoding(setup.compose_with("drafter = " + name + "\n"));
  }
}

TEST_CASE("every verifier decodes") {
  const Setup setup;
  for (const std::string& name : setup.registries.verifiers.names()) {
    CAPTURE(name);
    if (Setup::of_vectors(setup.registries.verifiers, name))
      check_decoding(setup.compose_vectors(""), 1);
    else
      check_decoding(setup.compose_with("verifier = " + name + "\n"));
  }
}

TEST_CASE("every acceptance rule, router, estimator and frontier decodes") {
  const Setup setup;
  for (const std::string& name : setup.registries.acceptance.names())
    check_decoding(setup.compose_with("acceptance = " + name + "\n"));
  for (const std::string& name : setup.registries.routers.names())
    check_decoding(setup.compose_with("estimator = entropy\nrouter = " + name + "\n"));
  for (const std::string& name : setup.registries.estimators.names())
    check_decoding(setup.compose_with("estimator = " + name + "\n"));
  for (const std::string& name : setup.registries.frontiers.names())
    check_decoding(setup.compose_with("frontier = " + name + "\n"));
  for (const std::string& name : setup.registries.frontiers.names())
    check_decoding(setup.compose_vectors("frontier = " + name + "\n"), 1);
  for (const std::string& name : setup.unmaskers(Setup::Does::keep))
    check_decoding(setup.compose_vectors("router = never\nunmasker = " + name + "\n"), 1);
}

TEST_CASE("every unmasker decodes without verification, and previews what it commits") {
  const Setup setup;
  for (const std::string& name : setup.unmaskers(Setup::Does::keep)) {
    CAPTURE(name);
    const Composition composition = setup.compose_with("router = never\nunmasker = " + name + "\n");
    check_decoding(composition);
    const std::vector<SampleRow> rows = decode(composition, 1, 5);
    for (const StepRow& step : rows[0].steps) {
      CHECK(step.routed <
            1);  // A draft that is the target's own draw needs no decision and no forward.
      CHECK(step.counts[Kind::verify].calls == 0);
    }
  }
}

// Blocks of two on a model whose cache costs forwards and gives a token along with them; four
// unknowns in two blocks.
TEST_CASE("every drafter, router, unmasker and acceptance rule decodes blocks") {
  const Setup setup;
  const std::string blocks =
      "frontier = blocks\n[decode]\nblock_size = 2\nsteps = 1\n[model.table]\nkind = views\ncommit "
      "= separate\n";
  const auto check = [&](const std::string& parts, const std::string& rest = "") {
    CAPTURE(parts);
    for (const char* shifted : {"false", "true"}) {
      const Composition composition =
          setup.compose_with(parts + blocks + "shifted = " + shifted + "\n" + rest);
      for (const SampleRow& row : decode(composition, 8, 3)) {
        Counts counts;
        std::int32_t before = 0;
        for (const StepRow& step : row.steps) {
          CHECK(step.committed >= 1);
          CHECK(step.committed <= 2);
          for (const TokenRow& token : step.tokens) CHECK(token.position / 2 >= before);
          before = step.tokens.back().position / 2;
          for (int kind = 0; kind < kKinds; ++kind)
            counts.of[kind].calls += step.counts.of[kind].calls;
        }
        CHECK(row.generated == 4);
        CHECK(row.counts[Kind::prefill].calls == 1);
        CHECK(row.counts[Kind::commit].calls == 2);
        CHECK(counts.nfe() + 1 == row.counts.nfe());
      }
    }
  };
  for (const std::string& name : setup.registries.drafters.names())
    if (!Setup::of_vectors(setup.registries.drafters, name)) check("drafter = " + name + "\n");
  for (const std::string& name : setup.registries.routers.names())
    check("drafter = denoise\nestimator = entropy\nunmasker = threshold\nrouter = " + name + "\n");
  for (const std::string& name : setup.unmaskers(Setup::Does::keep)) {
    check("drafter = denoise\nrouter = never\nunmasker = " + name + "\n");
    check("drafter = denoise\nunmasker = " + name + "\n");
    check("drafter = denoise\nunmasker = " + name + "\n",
          "[acceptance.speculative]\nresample = false\n");
  }
  for (const std::string& name : setup.registries.acceptance.names())
    check("drafter = denoise\nacceptance = " + name + "\n");
}

TEST_CASE("what is taken back is committed again, and decoding ends") {
  const Setup setup;
  const std::vector<std::string> names = setup.unmaskers(Setup::Does::take_back);
  CHECK(names.size() >= 3);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Composition composition = setup.compose_with(
        "frontier = blocks\ndrafter = denoise\nrouter = never\nunmasker = " + name +
        "\n[unmasker.remdm]\neta = 0.3\n[decode]\nblock_size = 6\nthreshold = 0.6\n[model.table]\n"
        "kind = sets\nnoise = 2\n");
    int taken_back = 0;
    for (const SampleRow& row : decode(composition, 60, 3)) {
      std::map<std::int32_t, Token> held;
      for (const StepRow& step : row.steps) {
        int committed = 0;
        for (const TokenRow& token : step.tokens) {
          const bool back = token.source == static_cast<std::int32_t>(Source::taken_back);
          committed += !back, taken_back += back;
          if (back) {
            CHECK(held[token.position] == token.token);
            CHECK(held.erase(token.position) == 1);
          } else {
            CHECK(held.emplace(token.position, token.token).second);
          }
        }
        CHECK(step.committed == committed);
      }
      CHECK(held.size() == 4);
      CHECK(row.generated == 4);
    }
    CHECK(taken_back > 0);
  }
}

TEST_CASE("a random canvas shows what was said, is noise elsewhere, and is filled in the end") {
  const Setup setup;
  const std::vector<std::string> names = setup.unmaskers(Setup::Does::show);
  CHECK(names.size() >= 1);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Composition composition = setup.compose_with(
        "frontier = blocks\ndrafter = denoise\nrouter = never\nunmasker = " + name +
            "\n[decode]\nblock_size = 3\nsteps = 4\n[model.noisy-table]\n"
            "length = 6\n",
        "noisy-table");
    const std::vector<SampleRow> batch = decode(composition, 40, 3);
    for (const SampleRow& row : batch) {
      CHECK(row.generated == 4);
      CHECK(row.steps.size() <= 8);
      std::set<std::int32_t> filled;
      for (const StepRow& step : row.steps) {
        for (const TokenRow& token : step.tokens) CHECK(filled.insert(token.position).second);
        for (const DraftRow& draft : step.drafts) CHECK(draft.shown >= 0);
      }
      CHECK(filled.size() == 4);
    }
    CHECK(tokens_of(decode(composition, 1, 3).front()) == tokens_of(batch.front()));
  }
}

TEST_CASE("an unmasker that shows tokens is refused where it cannot") {
  const Setup setup;
  const std::string lines =
      "frontier = blocks\ndrafter = denoise\nverifier = tree\nunmasker = renoise\n";
  CHECK_THROWS_WITH_AS(setup.compose_with(lines, "noisy-table"),
                       doctest::Contains("router must be never"), ConfigError);
  CHECK_NOTHROW(setup.compose_with(lines + "router = never\n", "noisy-table"));
}

TEST_CASE("an unmasker that takes back is refused where it cannot") {
  const Setup setup;
  const std::string blocks = "frontier = blocks\ndrafter = denoise\nunmasker = wino\n";
  const auto said = [&](const std::string& lines) {
    try {
      setup.compose_with(lines);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(said(blocks + "router = never\n").empty());
  CHECK(said(blocks).find("router must be never") != std::string::npos);
  CHECK(said("unmasker = wino\nrouter = never\n").find("frontier must be blocks") !=
        std::string::npos);
}

TEST_CASE("tokens of a block may be edited; each position is committed once") {
  const Setup setup;
  const Composition composition = setup.compose_with(
      "frontier = blocks\ndrafter = denoise\nunmasker = threshold\nrouter = never\n"
      "[decode]\nblock_size = 4\nthreshold = 0.3\nedit_threshold = 0.5\npost_steps = "
      "2\n[model.table]\nkind = views\ncommit = separate\n");
  int edited = 0;
  for (const SampleRow& row : decode(composition, 40, 3)) {
    std::set<int> committed;
    for (const StepRow& step : row.steps) {
      for (const TokenRow& token : step.tokens) {
        const bool edit = token.source == static_cast<int>(Source::edited);
        CHECK(committed.insert(token.position).second != edit);
        edited += edit;
      }
    }
    CHECK(committed.size() == 4);
    // Blocks 2-3, beside the prompt, and 4-5 are committed.
    CHECK(row.counts[Kind::commit].calls == 2);
  }
  CHECK(edited > 0);
}

TEST_CASE(
    "with decode.stop = token nothing is committed behind the end of a text, though it was "
    "accepted") {
  const Setup setup;
  int cut = 0;
  for (const SampleRow& row :
       decode(setup.compose_with("drafter = synthetic\n[drafter.synthetic]\nalpha = "
                                 "1\n[decode]\nstop = token\n[model.table]\nend = 2\n"),
              40, 3)) {
    if (row.steps.back().stop != static_cast<int>(Stop::end_of_text)) continue;
    ++cut;
    CHECK(row.generated == row.valid + 1);
    CHECK(row.steps.back().tokens.back().token == 2);
    CHECK(row.steps.back().committed < row.steps.back().drafted);
    for (const DraftRow& draft : row.steps.back().drafts)
      CHECK((draft.accepted == 1) == (draft.position <= row.steps.back().tokens.back().position));
  }
  CHECK(cut > 0);
}

namespace {

// The text that is chosen among `choices`, and the probabilities of its tokens.
std::pair<std::vector<Token>, std::vector<double>> chosen(
    const Composition& composition, const std::vector<std::vector<Token>>& choices) {
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  const auto task = composition.task.make();
  task->load(nullptr);
  Prompt prompt = task->prompt(0);
  prompt.choices = choices;
  Choice choice(composition, models, prompt);
  const SampleRow row = drive(models, choice, choice.decode());
  std::vector<Token> tokens;
  std::vector<double> probabilities;
  for (const TokenRow& token : row.steps.front().tokens) tokens.push_back(token.token);
  for (const DraftRow& draft : row.steps.front().drafts) probabilities.push_back(draft.p);
  return {tokens, probabilities};
}

}  // namespace

TEST_CASE("of several texts the likeliest is chosen, by the product of all its tokens") {
  const Setup setup;
  const Composition arm = setup.compose_with("drafter = stepwise\nverifier = chain\n");
  using Text = std::vector<Token>;
  // Each alone, then in pairs and in either order; texts of one token are told by their first.
  const std::vector<Text> texts = {{0}, {1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const auto product = [&](const Text& text) {
    double all = 1;
    for (const double p : chosen(arm, {text}).second) all *= p;
    return all;
  };
  for (const Text& one : texts) {
    for (const Text& other : texts) {
      if (one == other || one.size() != other.size()) continue;
      CAPTURE(one.size());
      REQUIRE(product(one) != product(other));
      CHECK(chosen(arm, {one, other}).first == (product(one) > product(other) ? one : other));
    }
  }
}

TEST_CASE("a decode depends on its seed and on its sequence") {
  const Setup setup;
  const Composition composition = setup.compose_with("drafter = self\n");
  std::set<std::vector<std::pair<int, int>>> texts;
  for (const SampleRow& row : decode(composition, 64, 1)) texts.insert(tokens_of(row));
  for (const SampleRow& row : decode(composition, 64, 2)) texts.insert(tokens_of(row));
  CHECK(texts.size() > 20);
}

TEST_CASE("a prompt with a gap cannot be decoded from left to right") {
  const Setup setup;
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "model = table\nfrontier = left-to-right\ntask = positions\n[task.positions]\nlength = "
      "5\nprompt = 2:1\n",
      "test.ini", diagnostics);
  const Composition composition = compose(config, setup.registries, diagnostics);
  diagnostics.raise();
  CHECK_THROWS_WITH_AS(
      decode(composition, 1, 1),
      doctest::Contains("frontier = left-to-right needs a prompt that is a prefix"), ConfigError);
}

TEST_CASE(
    "a prompt with choices: the most probable text is committed, at one function evaluation") {
  const Setup setup;
  const Composition composition = setup.compose_with("");
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  Prompt prompt = composition.task.make()->prompt(0);
  // Every text of two tokens.
  double best = -1;
  std::vector<Token> wanted;
  for (Token a = 0; a < 3; ++a) {
    for (Token b = 0; b < 3; ++b) {
      prompt.choices.push_back({a, b});
      Canvas canvas(prompt.length, prompt.given);
      double probability = 1;
      for (const auto& [position, token] : {std::pair<std::int32_t, Token>{2, a}, {3, b}}) {
        const auto sequence = models.target().open(canvas);
        const Question question{
            .kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {{kRoot, {position}}}};
        Answer answer;
        Pending pending{sequence.get(), &question, &answer};
        models.target().answer({&pending, 1});
        probability *= answer.at(kRoot, position).probability(token);
        canvas.commit(position, token);
      }
      if (probability > best) best = probability, wanted = {a, b};
    }
  }
  SampledChance chance(1);
  const std::unique_ptr<Session> choice = session_of(composition, models, prompt, {chance, 0});
  const SampleRow row = drive(models, *choice, choice->decode());
  CHECK(choice->canvas().token(2) == wanted[0]);
  CHECK(choice->canvas().token(3) == wanted[1]);
  CHECK(choice->canvas().masked(4));
  CHECK(row.counts.nfe() == 1);
  CHECK(row.generated == 2);
  REQUIRE(row.steps.size() == 1);
  CHECK(row.steps[0].drafts[0].p * row.steps[0].drafts[1].p == doctest::Approx(best));

  // Without a verifier of chains nobody has made sure that the model can answer.
  const Composition other = setup.compose_with("verifier = tree\n");
  Choice refused(other, models, prompt);
  CHECK_THROWS_AS(drive(models, refused, refused.decode()), ConfigError);
}
