// The rules for vector tokens, on cases whose numbers are known. That the exact ones are, and the
// others are not, the certificates show (configs/certify/*cspd*).
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/config/composition.h"
#include "tests/plugins/vector_decoding.h"

namespace draftlab {
namespace {

using testing::decode;
using testing::vectors;

// One token of one coordinate: the target draws x_1 and x_0, the draft likewise.
std::string one_token(const std::string& target, const std::string& draft,
                      const std::string& density, const std::string& more = "") {
  const std::string toy = "dimension = 1\nclasses = 1\n";
  return more + "[model.linear-gaussian]\n" + toy + target + "[model.draft]\n" + toy + draft +
         "[verifier.density]\n" + density;
}
// The same, judged by a rule as published.
std::string published(const std::string& target, const std::string& draft,
                      const std::string& options) {
  return one_token(target, draft, "[verifier.density-published]\n" + options,
                   "verifier = density-published\n");
}
const std::string kOneToken = "length = 2\nprompt = 0:0\n";

struct Share {
  double accepted = 0, accept = 0, proposals = 0, mean = 0, square = 0;
  int capped = 0, zeros = 0;
};
Share share(const Composition& composition, int samples) {
  Share share;
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  const auto task = composition.task.make();
  task->load(nullptr);
  const Prompt prompt = task->prompt(0);
  for (int i = 0; i < samples; ++i) {
    SampledChance chance(1);
    Decoder decoder(composition, models, prompt, {chance, static_cast<std::uint64_t>(i)});
    drive(models, decoder, decoder.step());
    const Judged& judged = decoder.verdict().judged.at(0);
    const double x = decoder.canvas().value(1)[0];
    share.accepted += judged.accepted / static_cast<double>(samples);
    share.accept += judged.accept / samples;
    share.proposals += judged.vector.proposals / static_cast<double>(samples);
    share.mean += x / samples;
    share.square += x * x / samples;
    share.capped += judged.vector.capped;
    share.zeros += x == 0;
  }
  return share;
}

TEST_CASE(
    "the degenerate case of the published rule ends: the cap is counted, and no token is a vector "
    "of zeros") {
  // p: x_1 = 2 e, x_0 = x_1 / 2 + e'; q: x_1 = e, x_0 = x_1 + e'. Both outputs are equal, Sigma =
  // 1/2: half of the drafts are rejected, and nothing of the residual is ever found.
  const std::string target = "gains = 0, 0.5\nsigmas = 2, 1\n",
                    draft = "gains = 0, 1\nsigmas = 1, 1\n";
  const Share capped =
      share(vectors(published(target, draft, "rule = paper\ncap = 50\n"), kOneToken), 2000);
  CHECK(capped.accept == doctest::Approx(0.5));
  CHECK(std::abs(capped.accepted - 0.5) < 0.05);
  CHECK(capped.capped == doctest::Approx(2000 * (1 - capped.accepted)));
  CHECK(capped.proposals == doctest::Approx(50 * (1 - capped.accepted)));
  CHECK(capped.zeros == 0);
  // These are 4 standard deviations of a square of N(0, 2).
  CHECK(std::abs(capped.square - 2) < 0.26);

  const Share zeros = share(
      vectors(published(target, draft, "rule = paper\ncap = 50\nunresolved = zeros\n"), kOneToken),
      2000);
  CHECK(zeros.zeros == zeros.capped);
  CHECK(zeros.capped == capped.capped);
  // The authors' program multiplies by the reciprocal, so that it accepts them all.
  CHECK(share(vectors(published(target, draft, "rule = program\n"), kOneToken), 500).accepted ==
        doctest::Approx(1));
}

TEST_CASE(
    "the published factor is Sigma, that of the authors' program its reciprocal, with deviations "
    "inflated in the test alone") {
  // One decode, by hand: aligned noise e_1 (start), e_2 (x_1), e_3 (x_0).
  const std::string target = "gains = 0.5, 0.5\nsigmas = 1, 1\n",
                    draft = "gains = 0.5, 0.5\nsigmas = 1.25, 1.5\nshift = 0.3\n";
  for (const std::string rule : {"paper", "program"}) {
    for (const double inflation : {42.0, 1.0}) {
      for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
        decode(vectors(published(
                           target, draft,
                           "rule = " + rule + "\ninflation = " + std::to_string(inflation) + "\n"),
                       kOneToken),
               sequence, [&](const Decoder& decoder) {
                 const auto e = [&](std::uint32_t attempt) {
                   return SampledChance(1).normal({sequence, 1, Purpose::noise, 0, attempt});
                 };
                 const double start = e(0), x1 = 0.5 * start + e(2),
                              q1 = 0.5 * start + 0.2 + 1.25 * e(2), x = 0.5 * q1 + 0.2 + 1.5 * e(4);
                 const double to_p = x - 0.5 * x1, to_q = (x - 0.5 * q1 - 0.2) / 1.5;
                 double log = 0;
                 if (rule == "paper")
                   log = std::log(1.25) + std::log(1.5) - to_p * to_p / 2 + to_q * to_q / 2;
                 else
                   log = -std::log(1.25) + std::log(1.5) +
                         (to_q * to_q - to_p * to_p) / 2 / (inflation * inflation);
                 CHECK(decoder.verdict().judged.at(0).accept ==
                       doctest::Approx(std::min(1.0, std::exp(log))));
               });
      }
    }
  }
}

TEST_CASE("nothing is committed behind the first rejected draft") {
  const std::string toy = "dimension = 1\nclasses = 1\n";
  const Composition composition =
      vectors("[decode]\ndraft_length = 4\n[model.linear-gaussian]\n" + toy + "[model.draft]\n" +
                  toy + "shift = 1.5\n[verifier.density]\nbonus = false\n",
              "length = 6\nprompt = 0:0\n");
  int walked = 0;
  for (std::uint64_t sequence = 0; sequence < 40; ++sequence) {
    decode(composition, sequence, [&](const Decoder& decoder) {
      const Verdict& verdict = decoder.verdict();
      std::size_t reached = 0;
      while (reached < verdict.judged.size() && verdict.judged[reached].accepted) ++reached;
      if (reached == verdict.judged.size()) return;
      CHECK(verdict.commits.size() == reached + 1);
      for (std::size_t i = reached + 1; i < verdict.judged.size(); ++i, ++walked)
        CHECK_FALSE(verdict.judged[i].reached);
    });
  }
  CHECK(walked > 20);
}

TEST_CASE("k-split judges the draft's own path, k = 1 the last step on the target's") {
  const std::string target = "gains = 0.5, 0.5\nsigmas = 1, 1\n",
                    draft = "gains = 0.5, 0.5\nsigmas = 1.25, 1.5\nshift = 0.3\n";
  for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
    const auto e = [&](std::uint32_t attempt) {
      return SampledChance(1).normal({sequence, 1, Purpose::noise, 0, attempt});
    };
    const double start = e(0), x1 = 0.5 * start + e(2), q1 = 0.5 * start + 0.2 + 1.25 * e(2),
                 x = 0.5 * q1 + 0.2 + 1.5 * e(4);
    const auto log = [](double off, double sigma) {
      return -off * off / sigma / sigma / 2 - std::log(sigma);
    };
    const double drawn_1 = log(q1 - 0.5 * start - 0.2, 1.25),
                 drawn_0 = log(x - 0.5 * q1 - 0.2, 1.5);
    const double whole = log(q1 - 0.5 * start, 1) + log(x - 0.5 * q1, 1) - drawn_1 - drawn_0,
                 last = log(x - 0.5 * x1, 1) - drawn_0;
    for (const int k : {1, 2}) {
      decode(
          vectors(one_token(target, draft, "k = " + std::to_string(k) + "\n"), kOneToken), sequence,
          [&](const Decoder& decoder) {
            const Judged& judged = decoder.verdict().judged.at(0);
            CHECK(judged.accept == doctest::Approx(std::min(1.0, std::exp(k == 1 ? last : whole))));
            CHECK(judged.vector.log_target - judged.vector.log_drawn ==
                  doctest::Approx(k == 1 ? last : whole));
          });
    }
  }
}

TEST_CASE("reflection accepts 2 Phi(-D/2) and mirrors what it rejects") {
  const Composition composition =
      vectors(one_token("gains = 0\nsigmas = 2\n", "gains = 0\nsigmas = 2\nshift = 3\n",
                        "mode = reflection\n"),
              kOneToken);
  const double overlap = std::erfc(0.75 / std::sqrt(2.0));  // The distance D is 3 / 2.
  const Share found = share(composition, 20000);
  CHECK(std::abs(found.accepted - overlap) < 0.015);
  CHECK(std::abs(found.accept - overlap) < 0.01);
  CHECK(found.proposals == 0);
  CHECK(std::abs(found.mean) < 0.06);
  CHECK(std::abs(found.square - 4) < 0.17);
  for (std::uint64_t sequence = 0; sequence < 50; ++sequence) {
    decode(composition, sequence, [&](const Decoder& decoder) {
      const double noise = SampledChance(1).normal({sequence, 1, Purpose::noise, 0, 2});
      CHECK(decoder.canvas().value(1)[0] ==
            doctest::Approx(decoder.verdict().judged.at(0).accepted ? 3 + 2 * noise : -2 * noise));
    });
  }
}

TEST_CASE("reflection, unequal deviations: draws of the target are tried, at most `cap` of them") {
  const std::string target = "gains = 0\nsigmas = 2\n", draft = "gains = 0\nsigmas = 1\n";
  const auto found = [&](const std::string& options) {
    return share(vectors(one_token(target, draft, "mode = reflection\n" + options), kOneToken),
                 4000);
  };
  const Share law = found("");
  CHECK(law.capped == 0);
  CHECK(law.accepted < .8);
  // One draw of p is kept with probability 1 - min(1, q / p), which is that of a rejection.
  CHECK(law.proposals == doctest::Approx(1).epsilon(.1));
  CHECK(std::abs(law.mean) < .13);  // These are 4 standard deviations of means of N(0, 4).
  CHECK(std::abs(law.square - 4) < .36);
  const Share once = found("cap = 1\n");
  CHECK(once.proposals == doctest::Approx(1 - once.accepted));
  CHECK(once.capped > 0);
}

TEST_CASE(
    "draft and target at equal seeds share their noise: a draft that is the target commits the "
    "target's tokens") {
  const std::string same = "[decode]\ndraft_length = 2\n";
  for (const char* rule :
       {"[verifier.density]\nmode = k-split\n", "[verifier.density]\nk = 1\n",
        "[verifier.density]\nmode = reflection\n", "verifier = density-published\n"}) {
    for (std::uint64_t sequence = 0; sequence < 10; ++sequence) {
      std::vector<Eigen::VectorXd> drafted, own;
      const auto collect = [](std::vector<Eigen::VectorXd>& into) {
        return [&into](const Decoder& decoder) {
          for (const Commit& commit : decoder.verdict().commits) into.push_back(commit.value);
        };
      };
      decode(vectors(rule + same), sequence, collect(drafted));
      decode(vectors("model.draft = none\n" + same), sequence, collect(own));
      CHECK(drafted == own);
    }
  }
}

TEST_CASE("what a step costs: one forward to verify, and reverse questions that are none") {
  const SampleRow row = decode(vectors("[decode]\ndraft_length = 2\n[verifier.density]\nbonus = "
                                       "true\n[model.linear-gaussian]\nview = bidirectional\n"),
                               1);
  const StepRow& step = row.steps.front();
  CHECK(step.counts[Kind::verify].calls == 1);
  // Branches have a row for each node asked, and one for the root.
  CHECK(step.counts[Kind::verify].rows == 3);
  CHECK(step.drafter_counts[Kind::draft].calls == 2);
  CHECK(step.drafter_counts[Kind::aux].calls >= 6);  // Three reverse steps a draft.
  for (const StepRow& one : row.steps) CHECK(one.counts.nfe() == 1);
  CHECK(step.drafts[0].log_p == step.drafts[0].log_p);
  CHECK(step.drafts[0].q != step.drafts[0].q);  // It has no probability, but a density.

  const SampleRow block =
      decode(vectors("[decode]\ndraft_length = 3\n[verifier.density]\ncontext = parallel\n"), 1);
  CHECK(block.steps.size() == 1);
  CHECK(block.steps[0].counts[Kind::verify].positions == 3);
  const SampleRow filled =
      decode(vectors("[decode]\ndraft_length = 3\n[drafter.diffusion]\nprefill = 0.5\n"), 1);
  CHECK(filled.steps[0].exact == 1);
  CHECK(filled.steps[1].exact == 1);  // Two of three positions.
  CHECK(filled.steps[2].exact == 0);
  CHECK(filled.steps[0].counts[Kind::verify].calls == 0);
}

TEST_CASE("what cannot be is said in one sentence") {
  const auto says = [](const std::string& lines,
                       const std::string& task = "length = 4\nprompt = 0:0\n") {
    try {
      decode(vectors(lines, task), 1);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(says("verifier = chain\n"),
            "verifier 'chain' judges ids, and the tokens of model 'linear-gaussian' are vectors"));
  CHECK(has(says("drafter = self\n"),
            "drafter 'self' drafts ids, and the tokens of model 'linear-gaussian' are vectors"));
  CHECK(has(says("model = table\nmodel.draft = none\n"),
            "drafter 'diffusion' asks 'reverse' questions, which model 'table' does not answer"));
  CHECK(
      has(says("model.draft = table\n"), "are vectors, and those of model.draft = table are ids"));
  CHECK(has(says("acceptance = typical\n"),
            "acceptance 'typical' as configured judges no densities"));
  CHECK(has(says("[decode]\ntop_k = 3\n"), "decode.top_k must be 0"));
  CHECK(says("router = never\nunmasker = all\nverifier = chain\n").empty());
  CHECK(has(says("[verifier.density]\nk = 4\n"),
            "k = 4, but the model draws a token in 3 reverse steps"));
  CHECK(has(says("[verifier.density]\nmode = closed-form\n"),
            "judges heads with one reverse step, and this model's has 3"));
  CHECK(has(says("[drafter.diffusion]\nfinal_noise = false\n"),
            "drafter.diffusion.final_noise must be true"));
  CHECK(has(says("[verifier.density]\nbonus = true\ncontext = parallel\n"),
            "one of them must change"));
  CHECK(has(says("[verifier.density]\ncap = 1000000\n[model.linear-gaussian]\ndimension = "
                 "256\ngains = 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\nsigmas = "
                 "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n[model.draft]\ndimension = 256\ngains = "
                 "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\nsigmas = 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n"),
            "lower the cap"));
  CHECK(has(says("verifier = density-published\n[model.linear-gaussian]\napart = 1\n"),
            "judges heads of one component, and a reverse step has several"));
  CHECK(has(says("[verifier.density]\nmode = reflection\n[model.linear-gaussian]\napart = 3\n"),
            "reflection couples heads of one component"));
  CHECK(has(
      says("[model.linear-gaussian]\nsigmas = 1, 1, 0\n"),
      "a reverse step has a standard deviation of zero, so there is no density to verify with"));
  CHECK(has(says("[model.draft]\ndimension = 3\n"),
            "model.draft draws vectors of 3 coordinates in 3 reverse steps and the target of 2 in "
            "3; they must be equal"));
  CHECK(has(says("[model.draft]\ngains = 1\nsigmas = 1\n"),
            "in 1 reverse steps and the target of 2 in 3"));
  CHECK(has(says("[model.draft]\nclasses = 3\n"),
            "model.draft has a vocabulary of 3 tokens and the target of 2"));
  CHECK(has(says("", "length = 4\nprompt = 0:3\n"),
            "the prompt gives class 3, which must be at most model.linear-gaussian.classes = 2"));
  CHECK(has(says("frontier = lattice\n", "length = 4\nprompt = 0:0,2:0\n"),
            "wants a class at position 0 of the prompt and nothing else"));
  CHECK(has(says("[model.linear-gaussian]\nsigmas = 1, 1\n"), "both must have one a reverse step"));
  CHECK(has(says("[model.draft]\nshift = 100\ncoupling = 10\n[decode]\ntemperature = 0\n"),
            "standard deviation of zero"));
}

}  // namespace
}  // namespace draftlab
