#include "analysis/quantity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/metrics/image_metrics.h"
#include "core/metrics/text_metrics.h"
#include "core/trace/hdf5_columns.h"

namespace draftlab {
namespace {

using Compare = Quantity::Compare;

const std::vector<std::string> kKindNames = {"prefill", "draft", "verify", "commit", "aux"};
// The kind `aux` costs no forward.
const std::vector<std::string> kForwards = {"prefill", "draft", "verify", "commit"};

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

std::vector<double> ones_where_measured(const std::vector<double>& values) {
  std::vector<double> ones;
  for (double value : values) ones.push_back(std::isnan(value) ? kNotMeasured : 1);
  return ones;
}

}  // namespace

double Quantity::ratio(std::span<const double> sums) {
  return sums[1] > 0 ? sums[0] / sums[1] : kNotMeasured;
}

bool Measured::has(std::size_t sample) const {
  return std::none_of(columns.begin(), columns.end(),
                      [&](const auto& column) { return std::isnan(column[sample]); });
}

Measured Measured::mean_of(std::vector<double> values) {
  std::vector<double> ones = ones_where_measured(values);
  return {{std::move(values), std::move(ones)}};
}

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
                   near.empty() ? "--metric help lists them" : "did you mean '" + near + "'?");
}

const Measured& Quantities::of(const Quantity& quantity) const {
  const auto found = measured_.find(quantity.name);
  return found != measured_.end()
             ? found->second
             : measured_.emplace(quantity.name, measure(quantity.name)).first->second;
}

const std::vector<double>& Quantities::column(const std::string& name) const {
  const auto found = columns_.find(name);
  return found != columns_.end() ? found->second
                                 : columns_.emplace(name, frame_.numbers(name)).first->second;
}

// Returns the sums of a part of the counts (nfe, rows, positions, ns) over kinds.
std::vector<double> Quantities::counted(const std::string& part,
                                        const std::vector<std::string>& kinds,
                                        const std::string& whose) const {
  std::vector<double> sums(frame_.samples().size(), 0.0);
  for (const std::string& kind : kinds) {
    const std::vector<double>& values = column("sample_" + whose + part + "_" + kind);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  return sums;
}

Measured Quantities::measure(const std::string& name) const {
  const auto alone = Measured::mean_of;
  const auto over = [](std::vector<double> above, std::vector<double> below) {
    return Measured{{std::move(above), std::move(below)}};
  };
  const auto seconds_of = [&](const std::vector<std::string>& kinds) {
    std::vector<double> ns = counted("ns", kinds, "");
    for (std::size_t i = 0; i < ns.size(); ++i)
      ns[i] = std::isnan(column("sample_seconds")[i]) ? kNotMeasured : 1e-9 * ns[i];
    return ns;
  };
  const auto sums = [&](auto above, auto below) {
    std::vector<double> first, second;
    for (const AcceptanceSums& sample : acceptance()) {
      first.push_back(static_cast<double>(above(sample)));
      second.push_back(static_cast<double>(below(sample)));
    }
    return over(std::move(first), std::move(second));
  };
  const auto nfe = [&] { return counted("nfe", kForwards, ""); };
  if (name == "nfe") return alone(nfe());
  if (name == "nfe_per_valid") return over(nfe(), column("sample_valid"));
  if (name == "drafter_nfe") return alone(counted("nfe", kForwards, "drafter_"));
  if (name == "states") return alone(counted("rows", kForwards, ""));
  if (name == "rows" || name == "positions") return alone(counted(name, kForwards, ""));
  if (name == "steps") return alone(column("sample_n_steps"));
  if (name == "seconds" || name == "own_seconds" || name == "generated" || name == "valid" ||
      name == "entropy_bits")
    return alone(column("sample_" + name));
  if (name == "model_seconds") return alone(seconds_of(kForwards));
  if (name == "tokens_per_forward") return over(column("sample_generated"), nfe());
  if (name == "valid_per_forward") return over(column("sample_valid"), nfe());
  if (name == "tokens_per_step") return over(column("sample_generated"), column("sample_n_steps"));
  if (name == "tokens_per_second")
    return over(column("sample_generated"), column("sample_seconds"));
  if (name == "valid_per_second") return over(column("sample_valid"), column("sample_seconds"));
  using Sums = AcceptanceSums;
  if (name == "acceptance_rate")
    return sums([](const Sums& s) { return s.accepted; }, [](const Sums& s) { return s.drafted; });
  if (name == "drafts_acceptance_rate") {
    return sums([](const Sums& s) { return s.accepted - s.structural_accepted; },
                [](const Sums& s) { return s.drafted - s.structural_drafted; });
  }
  if (name == "trial_acceptance") return over(trials().accepted, trials().judged);
  if (name == "proposals" || name == "capped") {
    std::vector<double> rejected = trials().judged;
    for (std::size_t i = 0; i < rejected.size(); ++i) rejected[i] -= trials().accepted[i];
    return over(name == "capped" ? trials().capped : trials().proposals, rejected);
  }
  if (name == "of_limit") return over(trials().limited, trials().limit);
  if (name == "proposals_per_trial") return over(trials().proposals, trials().judged);
  if (name == "accepted_length")
    return sums([](const Sums& s) { return s.accepted; }, [](const Sums& s) { return s.verified; });
  if (name == "committed_length")
    return sums([](const Sums& s) { return s.verified_committed; },
                [](const Sums& s) { return s.verified; });
  if (name == "verified_share")
    return sums([](const Sums& s) { return s.verified; }, [](const Sums& s) { return s.steps; });
  if (name == "perplexity" || name == "nll") {
    Measured nats = over(column("sample_judge_nll"), column("sample_judge_tokens"));
    for (std::size_t i = 0; i < nats.below().size(); ++i)
      if (nats.below()[i] == 0) nats.columns[0][i] = nats.columns[1][i] = kNotMeasured;
    return nats;
  }
  if (name == "perplexity_mean" || name == "perplexity_error") {
    std::vector<double> each = column("sample_judge_nll"), squares;
    const std::vector<double>& tokens = column("sample_judge_tokens");
    for (std::size_t i = 0; i < each.size(); ++i) {
      each[i] = tokens[i] > 0 ? std::exp(each[i] / tokens[i]) : kNotMeasured;
      squares.push_back(each[i] * each[i]);
    }
    if (name == "perplexity_mean") return alone(each);
    return Measured{{each, squares, ones_where_measured(each)}};
  }
  if (name == "residual_energy") return over(trials().energy, trials().energy_drafts);
  if (name == "residual_energy_step") return over(trials().energy, trials().energy_steps);
  if (name == "ar_local_s2d2") return local_ar_of_s2d2();
  if (name == "ar_local" || name == "ar_global") {
    Measured mean = over(column("sample_" + name), column("sample_generated"));
    for (std::size_t i = 0; i < mean.below().size(); ++i) mean.columns[0][i] *= mean.below()[i];
    return mean;
  }
  if (name == "same_text" || name == "same_tokens") return likeness(name == "same_text");
  for (const std::string& kind : kKindNames) {
    if (name == "nfe_" + kind) return alone(counted("nfe", {kind}, ""));
    if (name == "seconds_" + kind) return alone(seconds_of({kind}));
  }
  const std::string prefix(named_prefix(Table::sample));
  if (name == "bleu") {
    Measured parts;
    for (const char* part : kBleuSums) parts.columns.push_back(column(prefix + part));
    return parts;
  }
  if (name == "frechet") return set_addends(kImageFeature, frechet_addends);
  if (name == "frechet_plain") return set_addends(kImageFeature, frechet_addends);
  if (name == "class_score") return set_addends(kImageClass, class_score_addends);
  if (name == "class_score_splits" || name == "class_score_deviation") return split_addends();
  if (name == "energy_distance") return energy_distances();
  return alone(column(prefix + name));
}

// The mean over samples of S2D2's code, which leaves out those of fewer than two tokens. Edits are
// no commitments.
Measured Quantities::local_ar_of_s2d2() const {
  std::vector<double> values(frame_.samples().size(), kNotMeasured);
  frame_.walk({}, Table::token, {"token_position", "token_source"}, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      SampleRow sample;
      sample.steps.resize(1);
      for (auto row = block.row_begin[block.step_begin[i]];
           row < block.row_begin[block.step_begin[i + 1]]; ++row) {
        if (block.rows[1][row] == static_cast<double>(Source::edited)) continue;
        TokenRow token;
        token.position = static_cast<std::int32_t>(block.rows[0][row]);
        sample.steps.front().tokens.push_back(token);
      }
      const std::vector<std::int32_t> order = ranks(commit_order(sample));
      if (order.size() > 1) values[block.samples[i]] = local_ar_s2d2(order, kArWindow);
    }
  });
  return Measured::mean_of(std::move(values));
}

// Compares each sample with the first arm's sample of the same prompt and repeat, which precedes
// the others in its file.
Measured Quantities::likeness(bool whole) const {
  const std::vector<double> unknown(frame_.samples().size(), kNotMeasured);
  Measured measured{{unknown, unknown}};
  // By position: the id, and for a vector the first coordinate. An edit replaces them.
  using Tokens = std::map<double, std::pair<double, double>>;
  Tokens first;
  const Frame::Sample* first_sample = nullptr;
  std::vector<std::string> columns = {"token_position", "token_id"};
  if (frame_.has_vectors()) columns.push_back("token_value_0");
  frame_.walk({}, Table::token, columns, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const Frame::Sample& sample = frame_.samples()[block.samples[i]];
      Tokens tokens;
      for (auto row = block.row_begin[block.step_begin[i]];
           row < block.row_begin[block.step_begin[i + 1]]; ++row) {
        const double value =
            columns.size() > 2 && !std::isnan(block.rows[2][row]) ? block.rows[2][row] : 0;
        tokens[block.rows[0][row]] = {block.rows[1][row], value};
      }
      if (sample.arm == frame_.files()[sample.file].arms.front()) {
        first = tokens;
        first_sample = &sample;
      } else if (!first_sample || first_sample->file != sample.file ||
                 first_sample->prompt != sample.prompt ||
                 first_sample->sample_index != sample.sample_index) {
        continue;
      }
      double same = 0;
      for (const auto& [position, token] : first) {
        const auto found = tokens.find(position);
        same += found != tokens.end() && found->second == token;
      }
      measured.columns[0][block.samples[i]] = whole ? static_cast<double>(tokens == first) : same;
      measured.columns[1][block.samples[i]] = whole ? 1 : static_cast<double>(first.size());
    }
  });
  return measured;
}

const std::vector<AcceptanceSums>& Quantities::acceptance() const {
  if (!acceptance_.empty()) return acceptance_;
  acceptance_.resize(frame_.samples().size());
  frame_.walk({"step_verified", "step_accepted", "step_drafted", "step_span", "step_exact",
               "step_committed"},
              [&](const Frame::Block& block) {
                StepRow step;
                for (std::size_t i = 0; i < block.samples.size(); ++i) {
                  AcceptanceSums& sums = acceptance_[block.samples[i]];
                  for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
                    step.verified = static_cast<std::int32_t>(block.steps[0][s]),
                    step.accepted = static_cast<std::int32_t>(block.steps[1][s]);
                    step.drafted = static_cast<std::int32_t>(block.steps[2][s]),
                    step.span = static_cast<std::int32_t>(block.steps[3][s]);
                    step.exact = static_cast<std::int32_t>(block.steps[4][s]),
                    step.committed = static_cast<std::int32_t>(block.steps[5][s]);
                    sums.add(step);
                  }
                }
              });
  // The forwards of the steps are the sample's without the prefill, which belongs to no step.
  const std::vector<double> forwards = counted("nfe", {"draft", "verify", "commit"}, "");
  const std::vector<double>& verify = column("sample_nfe_verify");
  for (std::size_t i = 0; i < acceptance_.size(); ++i) {
    acceptance_[i].forwards = static_cast<std::int64_t>(forwards[i]);
    acceptance_[i].verify_forwards = static_cast<std::int64_t>(verify[i]);
  }
  return acceptance_;
}

// The numbers are NaN where no drafts were recorded; proposals are NaN also where tokens are ids,
// or where the file is older than that column. Energies are NaN where tokens are vectors.
const Quantities::Trials& Quantities::trials() const {
  if (!trials_.judged.empty()) return trials_;
  const std::vector<double> unknown(frame_.samples().size(), kNotMeasured);
  trials_ = {unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown};
  frame_.walk({"step_verified", "step_exact"}, Table::draft,
              {"draft_depth", "draft_accepted", "draft_proposals", "draft_capped", "draft_log_p",
               "draft_p", "draft_q", "draft_limit"},
              [&](const Frame::Block& block) {
                for (std::size_t i = 0; i < block.samples.size(); ++i) {
                  const std::size_t sample = static_cast<std::size_t>(block.samples[i]);
                  if (frame_.files()[static_cast<std::size_t>(block.file)].drafts == "none")
                    continue;
                  double judged = 0, accepted = 0, proposals = 0, capped = 0, limit = 0;
                  double energy = 0, energy_drafts = 0, energy_steps = 0;
                  bool vectors = false;
                  for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
                    const double before = energy_drafts;
                    for (std::int64_t d = block.row_begin[s];
                         block.steps[0][s] != 0 && d < block.row_begin[s + 1]; ++d) {
                      if (block.rows[1][d] < 0 || block.rows[0][d] < block.steps[1][s]) continue;
                      ++judged;
                      accepted += block.rows[1][d] == 1;
                      proposals += block.rows[2][d];
                      capped += block.rows[3][d] == 1;
                      vectors = vectors || !std::isnan(block.rows[4][d]);
                      if (const double p = block.rows[5][d], q = block.rows[6][d]; p > 0 && q > 0)
                        energy += std::log(q / p), ++energy_drafts;
                      limit += std::isnan(block.rows[7][d]) ? 0 : block.rows[7][d];
                    }
                    energy_steps += energy_drafts > before;
                  }
                  trials_.judged[sample] = judged, trials_.accepted[sample] = accepted;
                  if (limit > 0) trials_.limited[sample] = accepted, trials_.limit[sample] = limit;
                  if (vectors) {
                    trials_.proposals[sample] = proposals, trials_.capped[sample] = capped;
                    continue;
                  }
                  trials_.energy[sample] = energy, trials_.energy_drafts[sample] = energy_drafts;
                  trials_.energy_steps[sample] = energy_steps;
                }
              });
  return trials_;
}

std::vector<AtDepth> Quantities::by_depth(const std::vector<char>& wanted) const {
  std::vector<AtDepth> depths;
  if (std::any_of(frame_.files().begin(), frame_.files().end(),
                  [](const Frame::File& file) { return file.drafts == "none"; }))
    return depths;
  frame_.walk({"step_verified", "step_span"}, Table::draft, {"draft_depth", "draft_accepted"},
              [&](const Frame::Block& block) {
                for (std::size_t i = 0; i < block.samples.size(); ++i) {
                  if (!wanted[block.samples[i]]) continue;
                  for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
                    if (block.steps[0][s] == 0) continue;
                    for (std::int64_t d = block.row_begin[s]; d < block.row_begin[s + 1]; ++d) {
                      const auto depth = static_cast<std::size_t>(block.rows[0][d]);
                      if ((block.steps[1][s] > 0 && block.rows[0][d] >= block.steps[1][s]) ||
                          depth > 100000)
                        continue;
                      if (depths.size() <= depth) depths.resize(depth + 1);
                      ++depths[depth].drafted;
                      depths[depth].reached += block.rows[1][d] >= 0;
                      depths[depth].accepted += block.rows[1][d] == 1;
                    }
                  }
                }
              });
  return depths;
}

bool Quantities::measured(const Quantity& quantity) const {
  const Measured& measured = of(quantity);
  for (std::size_t i = 0; i < measured.above().size(); ++i)
    if (frame_.samples()[i].counts && measured.has(i) &&
        (!quantity.by_prompt() || measured.below()[i] != 0))
      return true;
  return false;
}

bool Quantities::spent(const std::string& name) const {
  const Measured& measured = of(find(name));
  for (std::size_t i = 0; i < measured.above().size(); ++i)
    if (frame_.samples()[i].counts && measured.has(i) && measured.above()[i] != 0) return true;
  return false;
}

std::vector<std::string> Quantities::usual() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, bool also_zero = true) {
    if (also_zero ? measured(find(name)) : spent(name)) names.push_back(name);
  };
  const bool ends = column("sample_valid") != column("sample_generated");
  for (const char* name : {"nfe", "tokens_per_forward"}) add(name);
  if (ends) add("valid_per_forward");
  add("seconds");
  add("acceptance_rate");
  if (frame_.has_vectors()) {
    for (const char* name :
         {"states", "trial_acceptance", "proposals_per_trial", "tokens_per_step"})
      add(name);
  }
  add("perplexity");
  add("entropy_bits", false);
  if (has_bleu()) add("bleu");
  for (const Quantity& quantity : all())
    if (quantity.name == "frechet" || quantity.name == "frechet_plain" ||
        quantity.name == "class_score" || quantity.name == "energy_distance")
      names.push_back(quantity.name);
  for (const std::string& score : plain_scores()) add(score);
  return names;
}

}  // namespace draftlab
