#include "experiments/certify/enumeration.h"

#include <algorithm>
#include <cmath>

#include "core/config/composition.h"
#include "experiments/certify/merged_states.h"

namespace draftlab {
namespace {

// The address of random sites plays no part here, because outcomes are enumerated, not drawn.
constexpr std::uint64_t kSequence = 0;

constexpr int kProbes = 300;

// Of the pairs of decodes that are merged, the first hundreds and then one in so many are run on.
constexpr std::int64_t kFirstPairs = 500;
constexpr std::uint64_t kOneIn = 64;

// The decodes that cannot be distinguished from here on.
struct State {
  // The choices of one decode that leads here; they are replayed to continue it.
  std::vector<int> choices;
  // Decoder::state() as that decode reached it.
  std::string reached;
  double probability = 0;
  std::int64_t worst_nfe = 0;
  bool dust = true;  // Whether only decodes below kDust lead here.
};

// Adds a decode. The worst case is that of the decodes that count or, where none does, of all.
void add(State& state, double probability, std::int64_t nfe) {
  const bool dust = probability <= kDust;
  if (dust == state.dust) {
    state.worst_nfe = std::max(state.worst_nfe, nfe);
  } else if (!dust) {
    state.worst_nfe = nfe;
    state.dust = false;
  }
  state.probability += probability;
}

// Returns the number of texts of `committed` tokens that different histories can lead to.
double possible_states(const Decoder& decoder, int vocabulary) {
  const Canvas& canvas = decoder.canvas();
  double states = std::pow(vocabulary, canvas.committed());
  if (!std::is_sorted(canvas.order().begin(), canvas.order().end())) {
    const int unknown = canvas.length() - canvas.prompt_size();
    for (int i = 0; i < canvas.committed(); ++i) states *= unknown - i;
  }
  return states;
}

// Walks the outcomes of a decoder, step by step.
class Walker {
 public:
  Walker(const Composition& composition, const Models& models, const Prompt& prompt,
         const Walk& walk)
      : composition_(composition), models_(models), prompt_(prompt), walk_(walk) {}

  Outcomes all() {
    std::map<std::string, State> states;
    states[""] = {.choices = {}, .reached = {}, .probability = 1, .worst_nfe = 0, .dust = false};
    for (int step = 0; !states.empty(); ++step) {
      std::map<std::string, State> reached;
      for (const auto& [key, state] : states) {
        EnumeratedChance chance(state.choices);
        do {
          take_step(state, step, chance, reached);
        } while (chance.next());
        outcomes_.dropped += state.probability * chance.dropped();
      }
      states = std::move(reached);
    }
    double mass = 0;
    for (const auto& [text, probability] : outcomes_.probability) mass += probability;
    if (!(std::abs(mass - 1) < 1e-9))
      throw Fault("the probabilities of all outcomes sum to {:f}, not to one", mass);
    return std::move(outcomes_);
  }

 private:
  // Repeats the decode that leads to a state, takes the next step with the numbers of `chance`, and
  // adds what it reaches.
  void take_step(const State& state, int step, EnumeratedChance& chance,
                 std::map<std::string, State>& reached) {
    chance.begin();
    Decoder decoder(composition_, models_, prompt_, {chance, kSequence});
    for (int replayed = 0; replayed < step; ++replayed) drive(models_, decoder, decoder.step());
    if (step > 0 && decoder.state() != state.reached)
      throw Fault(
          "a decode that was repeated with the same random numbers came to another state after "
          "step {}; some part draws numbers of its own, or keeps what its state() does not tell",
          step);
    const std::int64_t before = decoder.nfe();
    drive(models_, decoder, decoder.step());

    if (++outcomes_.walked > walk_.most)
      throw ConfigError(
          "certify.most_outcomes = {} outcomes have been walked, against the estimate, and there "
          "are more; raise it",
          walk_.most);
    if (walk_.progress) walk_.progress(outcomes_.walked);
    const double probability = state.probability * chance.weight();
    const std::int64_t nfe = state.worst_nfe + decoder.nfe() - before;
    outcomes_.expected_nfe += probability * static_cast<double>(decoder.nfe() - before);
    if (step == 0) outcomes_.first_step += probability * decoder.canvas().committed();
    if (decoder.done()) {
      outcomes_.probability[decoder.text()] += probability;
      if (probability > kDust) outcomes_.worst_nfe = std::max(outcomes_.worst_nfe, nfe);
      return;
    }
    const auto masked = [&](std::int32_t at) { return decoder.canvas().masked(at); };
    std::string now = decoder.state();
    const auto [found, fresh] = reached.try_emplace(walk_.merge ? now + "|" + chance.known(masked)
                                                                : std::to_string(outcomes_.walked));
    if (fresh) {
      found->second.choices = chance.choices();
      found->second.reached = std::move(now);
    } else {
      ++outcomes_.merged;
      compare(found->second.choices, chance.choices(), step + 1);
    }
    add(found->second, probability, nfe);
  }

  // Runs on two decodes that were merged after `steps` steps, if they are in the sample.
  void compare(const std::vector<int>& first, const std::vector<int>& second, int steps) {
    if (outcomes_.merged > kFirstPairs &&
        stable_hash(std::to_string(outcomes_.merged)) % kOneIn != 0)
      return;
    run_on(composition_, models_, prompt_,
           {.first = first,
            .second = second,
            .steps = steps,
            .trial = static_cast<std::uint64_t>(outcomes_.merged)});
    ++outcomes_.compared;
  }

  const Composition& composition_;
  const Models& models_;
  const Prompt& prompt_;
  const Walk& walk_;
  Outcomes outcomes_;
};

}  // namespace

Outcomes enumerate(const Composition& composition, const Models& models, const Prompt& prompt,
                   const Walk& walk) {
  return Walker(composition, models, prompt, walk).all();
}

// In a tree where a decode met b_1, b_2, ... branches, the mean of b_1 + b_1 b_2 + ... is the
// number of outcomes (Knuth, 1975). Merging bounds the number of states from which a step is
// walked.
double estimated_outcomes(const Composition& composition, const Models& models,
                          const Prompt& prompt, bool merge) {
  const int vocabulary = models.target().facts().vocabulary;
  double sum = 0;
  for (int trial = 0; trial < kProbes; ++trial) {
    EnumeratedChance chance;
    chance.probe(static_cast<std::uint64_t>(trial));
    Decoder decoder(composition, models, prompt, {chance, kSequence});
    while (!decoder.done()) {
      const double before = chance.branches();
      const double states = merge ? std::min(before, possible_states(decoder, vocabulary)) : before;
      drive(models, decoder, decoder.step());
      sum += states * chance.branches() / before;
    }
  }
  return sum / kProbes;
}

double total_variation(const TextLaw& a, const TextLaw& b) {
  double sum = 0;
  for (const auto& [text, probability] : a) {
    const auto other = b.find(text);
    sum += std::abs(probability - (other == b.end() ? 0 : other->second));
  }
  for (const auto& [text, probability] : b)
    if (!a.contains(text)) sum += probability;
  return sum / 2;
}

}  // namespace draftlab
