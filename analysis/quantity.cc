#include "analysis/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/error.h"
#include "core/metrics/image_metrics.h"
#include "core/metrics/text_metrics.h"
#include "core/trace/hdf5_columns.h"

namespace draftlab {
namespace {

// The kind `aux` costs no forward.
const std::vector<std::string> kForwards = {"prefill", "draft", "verify", "commit"};

std::vector<double> ones_where_measured(const std::vector<double>& values) {
  std::vector<double> ones;
  for (double value : values) ones.push_back(std::isnan(value) ? kNotMeasured : 1);
  return ones;
}

// Whether an arm's drafts are shallow answers of the target. In older traces the drafter that asks
// for them is early-exit.
bool drafts_shallowly(const Frame& frame, int arm) {
  const std::string drafter = frame.key(arm, "drafter");
  return drafter == "shallow" || drafter == "early-exit" ||
         (drafter == "dynamic-tree" && frame.key(arm, "drafter.dynamic-tree.guide") == "shallow");
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

// Shallow drafts, which are all forwards of their kind in such an arm, went through the first
// layers alone, or through the one layer of a feature head, or through none in Hydra's heads.
std::vector<double> Quantities::layers() const {
  std::vector<double> layers = counted("nfe", kForwards, "");
  const std::vector<double>& drafts = column("sample_nfe_draft");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Frame::Sample& sample = frame_.samples()[i];
    const auto& declared = frame_.files()[sample.file].config;
    const auto found = declared.find("report.layers");
    const double all = found == declared.end() ? 0 : std::atof(found->second.c_str());
    layers[i] = all > 0 ? all * layers[i] : kNotMeasured;
    if (all == 0 || !drafts_shallowly(frame_, sample.arm)) continue;
    const auto named = [&](const char* key) { return !frame_.key(sample.arm, key).empty(); };
    const double first =
        named("model.autoregressive.feature_head") ? 1
        : named("model.autoregressive.hydra_heads")
            ? 0
            : std::atof(frame_.key(sample.arm, "model.autoregressive.exit_layers").c_str());
    if (first >= all)
      throw DataError("'{}' declares [report] layers = {}, but its shallow drafts went through {}",
                      frame_.files()[sample.file].path, all, first);
    layers[i] -= (all - first) * drafts[i];
  }
  return layers;
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
  if (name == "layers") return alone(layers());
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
// no commitments, and of a position that was taken back the first one counts.
Measured Quantities::local_ar_of_s2d2() const {
  std::vector<double> values(frame_.samples().size(), kNotMeasured);
  frame_.walk({}, Table::token, {"token_position", "token_source"}, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      SampleRow sample;
      sample.steps.resize(1);
      for (auto row = block.row_begin[block.step_begin[i]];
           row < block.row_begin[block.step_begin[i + 1]]; ++row) {
        if (block.rows[1][row] >= static_cast<double>(Source::edited)) continue;
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
