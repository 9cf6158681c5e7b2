// Which quantities there are, by what name, and how each is shown and compared.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/quantity.h"
#include "core/base/error.h"
#include "core/metrics/image_metrics.h"
#include "core/metrics/text_metrics.h"

namespace draftlab {
namespace {

using Compare = Quantity::Compare;

// Of sums of the number of texts, their perplexities and the squares of these.
double standard_error(std::span<const double> sums) {
  if (sums[2] < 2) return kNotMeasured;
  const double mean = sums[0] / sums[2],
               variance = std::max(0.0, sums[1] - sums[0] * mean) / (sums[2] - 1);
  return std::sqrt(variance / sums[2]);
}

std::vector<double> scores_of_splits(std::span<const double> sums) {
  std::vector<double> scores;
  const std::size_t parts = sums.size() / kSplits;
  for (std::size_t part = 0; part < kSplits; ++part)
    scores.push_back(class_score(sums.subspan(part * parts, parts)));
  return scores;
}

double mean_of_splits(std::span<const double> sums) {
  const std::vector<double> scores = scores_of_splits(sums);
  return std::accumulate(scores.begin(), scores.end(), 0.0) / kSplits;
}

double deviation_of_splits(std::span<const double> sums) {
  const double mean = mean_of_splits(sums);
  double squares = 0;
  for (const double score : scores_of_splits(sums)) squares += (score - mean) * (score - mean);
  return std::sqrt(squares / kSplits);
}

std::vector<Quantity> declared() {
  std::vector<Quantity> list = {
      {"nfe", "NFE", "1", "function evaluations of the target, a sample", Compare::cost, -1, 1},
      {"nfe_per_valid", "NFE/valid token", "1",
       "function evaluations of the target, a token before the first end token", Compare::cost, -1,
       3},
      {"drafter_nfe", "draft model NFE", "1", "function evaluations of the draft model, a sample",
       Compare::cost, -1, 1},
      {"layers", "layers", "1",
       "layers of the target that its forwards went through, a sample: a shallow draft went "
       "through exit_layers or a feature head's one, any other forward through all ([report] "
       "layers)",
       Compare::cost, -1, 1},
      {"rows", "rows", "1", "batch rows of the target, a sample", Compare::cost, -1, 1},
      {"states", "states", "1",
       "states of the whole canvas that the target computed, a sample: rows of one evaluation "
       "count "
       "each",
       Compare::cost, -1, 1},
      {"positions", "positions", "1", "token positions that the target computed, a sample",
       Compare::cost, -1, 0},
      {"steps", "steps", "1", "turns of the loop, a sample", Compare::cost, -1, 1},
      {"seconds", "seconds", "s", "wall time of decoding a sample", Compare::cost, -1, 4, true},
      {"model_seconds", "model s", "s", "wall time inside the target, a sample", Compare::cost, -1,
       4, true},
      {"own_seconds", "own s", "s", "wall time outside the models, a sample", Compare::cost, -1, 4,
       true},
      {"tokens_per_forward", "tokens/NFE", "1",
       "generated tokens a function evaluation of the target", Compare::rate, 1, 2},
      {"valid_per_forward", "valid tokens/NFE", "1",
       "the same of tokens before the first end token", Compare::rate, 1, 2},
      {"tokens_per_step", "tokens/step", "1", "generated tokens a step", Compare::rate, 1, 2},
      {"tokens_per_second", "tokens/s", "s-1", "generated tokens a second", Compare::rate, 1, 1,
       true},
      {"valid_per_second", "valid tokens/s", "s-1", "tokens before the first end token, a second",
       Compare::rate, 1, 1, true},
      {"same_text", "same text", "1",
       "share of the texts whose every committed token is that of the file's first arm (a sweep's "
       "baseline)",
       Compare::difference, 0, 3},
      {"same_tokens", "same tokens", "1",
       "share of the first arm's tokens that stand at the same positions", Compare::difference, 0,
       3},
      {"generated", "generated", "1", "tokens committed, a sample", Compare::difference, 0, 1},
      {"valid", "valid", "1", "generated tokens before the first end token, a sample",
       Compare::difference, 0, 1},
      {"acceptance_rate", "acceptance", "1", "accepted / drafted in verified steps",
       Compare::difference, 1, 3},
      {"drafts_acceptance_rate", "acceptance, drafts", "1",
       "the same without drafts that are the target's own draws", Compare::difference, 1, 3},
      {"trial_acceptance", "acceptance, trials", "1",
       "accepted / judged drafts, those that came behind a rejection and the target's own draws "
       "left out",
       Compare::difference, 1, 3},
      {"of_limit", "of limit", "1",
       "accepted drafts a draft that the best rule would accept, node by node (trace.limits); "
       "above "
       "1 where later drafts rescue earlier ones",
       Compare::difference, 1, 3},
      {"proposals", "proposals", "1",
       "of vector tokens: draws of the target until one replaced a rejected draft",
       Compare::difference, -1, 2},
      {"proposals_per_trial", "proposals/trial", "1",
       "the same, a judged draft; 1 in the mean where the residual is the target's",
       Compare::difference, 0, 3},
      {"capped", "capped", "1",
       "share of the rejected drafts whose replacement was not found in verifier.density.cap draws",
       Compare::difference, -1, 4},
      {"accepted_length", "accepted length", "1",
       "accepted prefix of a verified step, without the replacement token", Compare::difference, 1,
       2},
      {"committed_length", "committed length", "1", "tokens that a verified step commits",
       Compare::difference, 1, 2},
      {"verified_share", "verified", "1", "share of the steps that went to the verifier",
       Compare::difference, 0, 3},
      {"perplexity", "judge perplexity", "1", "exp of judge nats a token", Compare::difference, -1,
       2, false, "margin_nll", true},
      {"perplexity_mean", "perplexity, mean of texts", "1",
       "mean over texts of exp of a text's judge nats a token, as papers print it",
       Compare::difference, -1, 2},
      {"perplexity_error", "its standard error", "1",
       "standard deviation of the texts' perplexities over the root of their number",
       Compare::difference, -1, 2, false, "", false, standard_error},
      {"nll", "judge nats/token", "nat", "negative log-likelihood under the judge, a token",
       Compare::difference, -1, 4, false, "margin_nll"},
      {"entropy_bits", "entropy, bits", "bit", "Shannon entropy of the token frequencies of a text",
       Compare::difference, 0, 3, false, "margin_entropy"},
      {"residual_energy", "residual energy", "nat",
       "log of the drafter's probability over the target's, a judged draft (S2D2, Eq. 8); drafts "
       "that the target cannot draw are left out",
       Compare::difference, -1, 3},
      {"residual_energy_step", "residual energy/step", "nat",
       "the same in sum over the judged drafts of a verified step (S2D2, Eq. 7 up to its constant)",
       Compare::difference, -1, 3},
      {"ar_local", "AR-ness local", "1", "local AR-ness at k = 2 (DiffuCoder), a token",
       Compare::difference, 0, 3},
      {"ar_local_s2d2", "AR-ness local, S2D2", "1",
       "local AR-ness at k = 2 (S2D2's code), mean over samples", Compare::difference, 0, 3},
      {"ar_global", "AR-ness global", "1", "global AR-ness at k = 2, a token", Compare::difference,
       0, 3},
  };
  const auto mark = [&](bool Quantity::*trait, const std::vector<std::string>& names) {
    for (Quantity& quantity : list)
      if (std::count(names.begin(), names.end(), quantity.name) > 0) quantity.*trait = true;
  };
  mark(&Quantity::of_drafts, {"acceptance_rate", "accepted_length"});
  mark(&Quantity::share,
       {"same_text", "same_tokens", "acceptance_rate", "drafts_acceptance_rate", "trial_acceptance",
        "capped", "verified_share", "ar_local", "ar_local_s2d2", "ar_global"});
  for (const std::string& kind : kKindNames) {
    list.push_back({"nfe_" + kind, kind + " NFE", "1",
                    "function evaluations of the target of kind `" + kind + "`, a sample",
                    Compare::cost, -1, 1});
    list.push_back({"seconds_" + kind, kind + " s", "s",
                    "wall time inside the target for kind `" + kind + "`, a sample", Compare::cost,
                    -1, 4, true});
  }
  return list;
}
}  // namespace

const std::vector<Quantity>& Quantities::all() const {
  if (!all_.empty()) return all_;
  all_ = declared();
  for (const std::string& score : plain_scores()) {
    all_.push_back({score, score, "1", "the task's score `" + score + "`, a sample",
                    Compare::difference, 1, 3, false, "margin_score"});
  }
  if (has_bleu()) {
    all_.push_back({"bleu", "BLEU", "1",
                    "corpus BLEU-4 of all texts together, from sums of their matches and lengths",
                    Compare::difference, 1, 2, false, "margin_bleu", false, bleu});
  }
  const std::vector<std::string> scores = frame_.scores();
  if (!image_parts(kImageFeature).empty()) {
    all_.push_back({"frechet", "Frechet distance", "1",
                    "of the classifier's features of all images from held-out ones', in which "
                    "these have unit covariance; as of infinitely many images, by the jackknife",
                    Compare::difference, -1, 3, false, "margin_frechet", false, frechet_distance,
                    Quantity::Jackknife::value});
    all_.push_back({"frechet_plain", "Frechet distance, plain", "1",
                    "the same with the bias of these many images, so never below zero",
                    Compare::difference, -1, 3, false, "margin_frechet", false, frechet_distance,
                    Quantity::Jackknife::error});
  }
  if (!image_parts(kImageClass).empty()) {
    all_.push_back(
        {"class_score", "Inception-style score", "1",
         "exp of the mean divergence of an image's class probabilities from those of all images",
         Compare::difference, 1, 2, false, "margin_class_score", false, class_score});
    all_.push_back({"class_score_splits", "score, ten splits", "1",
                    "mean of the score over ten splits of an arm's images, as Inception scores are "
                    "printed",
                    Compare::difference, 1, 2, false, "margin_class_score", false, mean_of_splits});
    all_.push_back({"class_score_deviation", "its deviation", "1",
                    "standard deviation of the score over the ten splits", Compare::difference, -1,
                    3, false, "", false, deviation_of_splits});
  }
  if (std::count(scores.begin(), scores.end(), kImageDistance) > 0) {
    all_.push_back(
        {"energy_distance", "energy distance", "1",
         "of the images of an arm from held-out ones: 2 E|X - Y| - E|X - X'| - E|Y - Y'|",
         Compare::difference, -1, 4, false, "margin_energy"});
  }
  return all_;
}

bool Quantities::has_bleu() const {
  const std::vector<std::string> scores = frame_.scores();
  return std::all_of(kBleuSums.begin(), kBleuSums.end(), [&](const char* name) {
    return std::count(scores.begin(), scores.end(), name) > 0;
  });
}

std::vector<std::string> Quantities::plain_scores() const {
  std::vector<std::string> scores = frame_.scores();
  if (has_bleu())
    std::erase_if(scores, [](const std::string& score) {
      return std::find(kBleuSums.begin(), kBleuSums.end(), score) != kBleuSums.end();
    });
  std::erase_if(scores, is_image_part);
  return scores;
}

const Quantity& Quantities::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const Quantity& quantity : all()) {
    if (quantity.name == name) return quantity;
    names.push_back(quantity.name);
  }
  const std::string near = nearest(name, names);
  throw UsageError("there is no metric '{}' in these traces; {}", name,
                   near.empty() ? "draftlab report FILE --metric help lists them"
                                : "did you mean '" + near + "'?");
}
}  // namespace draftlab
