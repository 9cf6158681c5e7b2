// Measures what a part or a model of another process costs beyond its own time: a router's
// decision, an effect of a drafter, laws that a drafter computed, and an answer of logits. The
// process is a Python worker whose parts do next to nothing (python/draftlab/bench_parts.py).
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/parts/step.h"
#include "core/parts/step_view.h"
#include "experiments/bench/bench.h"
#include "plugins/remote/python_plugin.h"

namespace draftlab {
namespace {

constexpr std::array<std::pair<std::int32_t, Token>, 1> kPrompt = {{{0, 1}}};

struct WireBenchOptions {
  std::int64_t calls = 20000, answers = 200, rows = 8, vocabulary = 152000, laws = 13;
  void declare(OptionSet& set) {
    set.add("calls", &calls).in(10, 1e7).help("Decisions of the router, and effects.");
    set.add("answers", &answers)
        .in(10, 1e6)
        .help("Answers of the model; steps of laws are a tenth.");
    set.add("rows", &rows).in(1, 4096).help("Positions that one answer is about.");
    set.add("vocabulary", &vocabulary).in(2, 1e7).help("Tokens of a row.");
    set.add("laws", &laws).in(1, 64).help("Laws that a drafter computes in a step.");
  }
};

// The seconds of each of so many calls, ascending. What is measured first is not counted.
std::vector<double> timed(std::int64_t count, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (std::int64_t i = -count / 10; i < count; ++i) {
    const auto began = Clock::now();
    call();
    const double took = std::chrono::duration<double>(Clock::now() - began).count();
    if (i >= 0) seconds.push_back(took);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

// What was measured of one kind of call, in microseconds.
class WireCosts {
 public:
  // Adds a line; `share` is the part of each call that counts.
  void add(const std::string& what, const std::vector<double>& seconds, double share = 1) {
    const auto at = [&](double quantile) {
      return 1e6 * share *
             seconds[static_cast<std::size_t>(quantile * static_cast<double>(seconds.size() - 1))];
    };
    table_.rows.push_back({what, fixed(at(0), 1), fixed(at(0.5), 1), fixed(at(0.95), 1),
                           fixed(at(0.99), 1), std::to_string(seconds.size())});
    numbers_.push_back({{"what", what},
                        {"calls", seconds.size()},
                        {"least_us", at(0)},
                        {"median_us", at(0.5)},
                        {"us_of_95_percent", at(0.95)},
                        {"us_of_99_percent", at(0.99)}});
  }
  void report(const BenchFlags& flags) const {
    flags.print("Microseconds of calls of another process", table_);
    flags.write(numbers_);
  }

 private:
  TextTable table_{{"what", "least", "median", "95 %", "99 %", "calls"}, {}};
  nlohmann::json numbers_ = nlohmann::json::array();
};

template <class Interface>
std::unique_ptr<Interface> made(const Registry<Interface>& registry,
                                const std::vector<std::pair<std::string, std::int64_t>>& options) {
  const std::string section = registry.kind() + ".wire-bench";
  std::string text = "[" + section + "]\n";
  for (const auto& [name, value] : options) text += name + " = " + std::to_string(value) + "\n";
  Diagnostics diagnostics;
  auto bound = registry.find("wire-bench")
                   ->bind(Config::parse(text, "bench", diagnostics), section, diagnostics);
  diagnostics.raise();
  return bound.make();
}

void time_decisions(const WireBenchOptions& options, const Registries& registries,
                    WireCosts& costs) {
  const auto router = made(registries.routers, {});
  const Eigen::ArrayXd numbers = Eigen::ArrayXd::Constant(8, 0.5);
  const NumbersView column(numbers.data(), numbers.size());
  StepView view;
  view.span = {.first = 0, .length = 8}, view.vocabulary = 96;
  view.confidence = view.margin = view.entropy = view.renyi2 = column;
  costs.add("a router's decision", timed(options.calls, [&] { router->decide(view); }));
}

// The seconds of so many steps of a drafter, over a window of so many positions.
std::vector<double> proposals(const Drafter& drafter, std::int64_t count, int positions,
                              int vocabulary) {
  const Canvas canvas(positions + 1, kPrompt);
  Window window{.positions = {}, .span = positions};
  for (std::int32_t i = 1; i <= positions; ++i) window.positions.push_back(i);
  const Blocks blocks;
  const DecodeOptions decode;
  const std::optional<Carry> carry;
  Mailbox mailbox;
  Sequence sequence(canvas);
  std::uint32_t clock = 0;
  return timed(count, [&] {
    SampledChance chance(1);
    const Step step{.canvas = canvas,
                    .window = window,
                    .blocks = blocks,
                    .decode = decode,
                    .carry = carry,
                    .chance = chance,
                    .mailbox = mailbox,
                    .clock = ++clock,
                    .vocabulary = vocabulary,
                    .target = sequence};
    Asking<Proposal> asking = drafter.propose(step);
    asking.start();
    asking.take();
  });
}

// A drafter's call is timed with no effect and with 64, and an effect is what is between them.
void time_effects(const WireBenchOptions& options, const Registries& registries, WireCosts& costs) {
  constexpr int kEffects = 64, kPositions = 4, kVocabulary = 4;
  const auto none = made(registries.drafters, {{"effects", 0}}),
             many = made(registries.drafters, {{"effects", kEffects}});
  const std::int64_t calls = std::max<std::int64_t>(10, options.calls / kEffects);
  const std::vector<double> without = proposals(*none, calls, kPositions, kVocabulary);
  std::vector<double> with = proposals(*many, calls, kPositions, kVocabulary);
  const double median = without[without.size() / 2];
  for (double& seconds : with) seconds -= median;
  costs.add("a drafter's call without effects", without);
  costs.add("an effect of a drafter", with, 1.0 / kEffects);
}

// A drafter computes the laws of its drafts, draws from them and says that it did.
void time_laws(const WireBenchOptions& options, const Registries& registries, WireCosts& costs) {
  const auto drafter =
      made(registries.drafters, {{"laws", options.laws}, {"vocabulary", options.vocabulary}});
  const std::string what = "a step of " + std::to_string(options.laws) + " x " +
                           std::to_string(options.vocabulary) + " laws";
  costs.add(what, proposals(*drafter, options.answers / 10, static_cast<int>(options.laws),
                            static_cast<int>(options.vocabulary)));
}

void time_answers(const WireBenchOptions& options, const Registries& registries, WireCosts& costs) {
  const auto model =
      made(registries.models, {{"rows", options.rows}, {"vocabulary", options.vocabulary}});
  model->load({});
  const Canvas canvas(static_cast<int>(options.rows) + 1, kPrompt);
  const auto sequence = model->open(canvas);
  Question question;
  question.asks = {{kRoot, {}}};
  for (std::int32_t i = 1; i <= options.rows; ++i) question.asks[0].positions.push_back(i);
  const std::string what = "an answer of " + std::to_string(options.rows) + " x " +
                           std::to_string(options.vocabulary) + " logits";
  costs.add(what, timed(options.answers, [&] {
              Answer answer;
              Pending pending{.sequence = sequence.get(), .question = &question, .answer = &answer};
              model->answer({&pending, 1});
            }));
}

}  // namespace

int bench_wire(const BenchFlags& flags, const CommandLine& line) {
  const auto options = bench_options<WireBenchOptions>(line);
  PythonOptions python;
  complete(python);
  Registries registries;
  load_remote_plugin(plugin_flag(python_package() + "/draftlab/bench_parts.py"), python,
                     registries);
  WireCosts costs;
  time_decisions(options, registries, costs);
  time_effects(options, registries, costs);
  time_laws(options, registries, costs);
  time_answers(options, registries, costs);
  costs.report(flags);
  return 0;
}

}  // namespace draftlab
