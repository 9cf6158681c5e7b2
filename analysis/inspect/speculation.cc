#include "analysis/inspect/speculation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/inspect/samples_in_memory.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/config/config.h"
#include "core/trace/trace_file.h"

namespace draftlab {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kConsistent = 0.02;  // By so much two ways to compute the mean length may differ.
constexpr std::int64_t kDigits = 1'000'000;  // Profiles have six digits behind the point.

double rounded(double value) {
  return std::round(value * static_cast<double>(kDigits)) / static_cast<double>(kDigits);
}

Json rounded(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(rounded(value));
  return array;
}

// What a run's samples say, and each category of prompts: the part of a prompt's id before a slash.
struct RunSpeculation {
  Speculation all;
  std::map<std::string, Speculation> categories;
  std::vector<double> lengths;  // The mean length of each sample.
};

template <class Visit>
void each_sample(const Trace& trace, Visit visit) {
  if (trace.drafts() == "none")
    throw DataError("{} records no drafts: decode with trace.drafts = all", trace.path());
  for (std::int64_t first = 0; first < trace.samples(); first += kSamplesInMemory)
    for (const SampleRow& sample :
         trace.read(first, std::min(kSamplesInMemory, trace.samples() - first)))
      visit(sample);
}

std::vector<RunSpeculation> read_runs(const Trace& trace) {
  std::vector<RunSpeculation> runs(trace.runs().size());
  each_sample(trace, [&](const SampleRow& sample) {
    RunSpeculation& run = runs.at(static_cast<std::size_t>(sample.run));
    const std::size_t slash = sample.prompt_id.find('/');
    Speculation own;
    for (const StepRow& step : sample.steps) {
      own.add(step);
      run.all.add(step);
      if (slash != std::string::npos) run.categories[sample.prompt_id.substr(0, slash)].add(step);
    }
    if (own.steps() > 0) run.lengths.push_back(own.mean_length());
  });
  return runs;
}

// The last two parts of a path, which is all that a profile tells of where a model lies.
std::string last_parts(const std::string& path) {
  std::size_t at = path.rfind('/');
  if (at != std::string::npos && at > 0) at = path.rfind('/', at - 1);
  return at == std::string::npos ? path : path.substr(at + 1);
}

// Adds what was measured of the steps that judged drafts. Those of a draft model do not depend on
// how many there are, so fewer are a shorter path.
void add_measured(Json& profile, const RunSpeculation& read, bool by_path) {
  const Speculation& all = read.all;
  const std::vector<double> marginals = all.marginals();
  profile["conditional_accept_rates"] = rounded(all.conditionals());
  profile["marginal_accept_rates"] = rounded(marginals);
  profile["mean_accept_length"] = rounded(all.mean_length());
  profile["mean_accept_length_per_request"] =
      rounded(std::accumulate(read.lengths.begin(), read.lengths.end(), 0.0) /
              static_cast<double>(read.lengths.size()));
  profile["accept_length_model"] = by_path ? "chain_analytic" : "measured_per_k";
  Json by_k = Json::object();
  double length = 1;
  for (std::size_t k = 1; k <= all.deepest(); ++k) {
    length += marginals[k - 1];
    if (by_path || k == all.deepest()) by_k[std::to_string(k)] = rounded(length);
  }
  profile["accept_length_by_k"] = by_k;
  Json histogram = Json::object();
  for (std::size_t a = 0; a < all.accepted_by_step.size(); ++a)
    histogram[std::to_string(a + 1)] = all.accepted_by_step[a];
  profile["acceptance_length_histogram"] = histogram;
  Json categories = Json::object();
  for (const auto& [name, own] : read.categories)
    categories[name] = {{"num_steps", own.steps()},
                        {"mean_accept_length", rounded(own.mean_length())},
                        {"conditional_accept_rates", rounded(own.conditionals())}};
  profile["per_category"] = categories;
}

Json profile(const RunRow& run, const RunSpeculation& read) {
  Diagnostics diagnostics;
  const Config config = Config::parse(run.config, "the config of the trace", diagnostics);
  const auto value = [&](const std::string& key) {
    const Config::Entry* const entry = config.find(key);
    return entry ? entry->value : std::string();
  };
  const std::string draft = value("model.draft");
  const Speculation& all = read.all;
  const bool measured = all.steps() > 0, by_path = !draft.empty() && draft != "none";
  Json profile;
  profile["schema_version"] = "1.0";
  profile["measured"] = measured;
  profile["method"] = by_path ? "draft_model" : value("drafter");
  const std::string checkpoint = value("model.draft.checkpoint");
  profile["draft_checkpoint"] = checkpoint.empty() ? Json() : Json(last_parts(checkpoint));
  profile["target_model"] = last_parts(run.checkpoint.empty() ? run.model_family : run.checkpoint);
  profile["num_speculative_tokens"] = all.deepest();
  const std::string block = value("decode.block_size");
  profile["block_size"] = block.empty() || block == "0" ? Json() : Json(std::stoll(block));
  profile["max_supported_k"] = all.deepest();
  profile["verification_method"] = run.judges_paths ? "block" : "longest_prefix";
  if (!measured) return profile;
  add_measured(profile, read, by_path);
  profile["measurement_conditions"] = {
      {"task", value("task")},          {"temperature", value("decode.temperature")},
      {"top_k", value("decode.top_k")}, {"top_p", value("decode.top_p")},
      {"seed", value("run.seed")},      {"num_requests", read.lengths.size()},
      {"num_steps", all.steps()}};
  const std::vector<double> marginals = all.marginals();
  // What was committed says the same as what was accepted, where every step commits one token more.
  const double committed = static_cast<double>(all.committed) / static_cast<double>(all.steps());
  profile["validation"] = {
      {"mean_consistency", std::abs(committed - all.mean_length()) <= kConsistent},
      {"marginal_monotonicity", std::is_sorted(marginals.rbegin(), marginals.rend())}};
  return profile;
}

}  // namespace

void Speculation::add(const StepRow& step) {
  if (step.verified == 0 || step.drafted == 0) return;
  std::size_t depth = 0;
  for (const DraftRow& draft : step.drafts) {
    if (draft.depth >= step.span) continue;
    depth = std::max(depth, static_cast<std::size_t>(draft.depth) + 1);
    ++drafted;
  }
  const auto accepted = static_cast<std::size_t>(step.accepted);
  const std::size_t length = std::max({depth, accepted, deepest()}) + 1;
  accepted_by_step.resize(length, 0);
  ++accepted_by_step[accepted];
  committed += step.committed;
}

std::int64_t Speculation::steps() const {
  return std::accumulate(accepted_by_step.begin(), accepted_by_step.end(), std::int64_t{0});
}

std::int64_t Speculation::accepted() const {
  std::int64_t sum = 0;
  for (std::size_t a = 0; a < accepted_by_step.size(); ++a)
    sum += static_cast<std::int64_t>(a) * accepted_by_step[a];
  return sum;
}

std::vector<double> Speculation::marginals() const {
  std::vector<double> shares(deepest(), 0);
  std::int64_t above = 0;
  for (std::size_t a = deepest(); a > 0; --a) {
    above += accepted_by_step[a];
    shares[a - 1] = steps() > 0 ? static_cast<double>(above) / static_cast<double>(steps()) : 0;
  }
  return shares;
}

std::vector<double> Speculation::conditionals() const {
  std::vector<double> shares = marginals();
  for (std::size_t i = shares.size(); i-- > 1;)
    shares[i] = shares[i - 1] > 0 ? shares[i] / shares[i - 1] : 0;
  return shares;
}

double Speculation::mean_length() const {
  return steps() > 0 ? 1 + static_cast<double>(accepted()) / static_cast<double>(steps()) : 0;
}

double Speculation::rate() const {
  return drafted > 0 ? static_cast<double>(accepted()) / static_cast<double>(drafted) : 0;
}

std::vector<WrittenProfile> export_profiles(const std::string& path, const std::string& folder) {
  const Trace trace(path);
  const std::vector<RunSpeculation> read = read_runs(trace);
  std::vector<WrittenProfile> written;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::string own = folder + "/run-" + std::to_string(i);
    make_folder(own);
    const std::string file = own + "/speculation_profile.json";
    write_whole(file, profile(trace.runs()[i], read[i]).dump(2) + "\n");
    written.push_back({file, read[i].all.steps() > 0 ? "" : "no step was verified"});
  }
  return written;
}

std::int64_t export_requests(const std::string& path, const std::string& file) {
  const Trace trace(path);
  std::vector<std::size_t> longest(trace.runs().size(), 0);
  std::vector<std::pair<Json, std::pair<std::size_t, Speculation>>> requests;
  each_sample(trace, [&](const SampleRow& sample) {
    Speculation own;
    for (const StepRow& step : sample.steps) own.add(step);
    const auto run = static_cast<std::size_t>(sample.run);
    longest.at(run) = std::max(longest[run], own.deepest());
    const Json id = std::to_string(sample.run) + "/" + sample.prompt_id + "/" +
                    std::to_string(sample.sample_index);
    requests.push_back({id, {run, std::move(own)}});
  });
  std::string lines;
  for (const auto& [id, of_run] : requests) {
    const auto& [run, own] = of_run;
    std::vector<std::int64_t> histogram = own.accepted_by_step;
    histogram.resize(longest[run] + 1, 0);
    Json metrics = {{"mean_acceptance_length", own.mean_length()},
                    {"draft_acceptance_rate", own.rate()},
                    {"acceptance_histogram", histogram},
                    {"num_spec_steps", own.steps()},
                    {"num_accepted_draft_tokens", own.accepted()},
                    {"num_draft_tokens", own.drafted},
                    {"num_spec_tokens", longest[run]}};
    const Json line = {{"request_id", id}, {"metrics", {{"speculative_decoding", metrics}}}};
    lines += line.dump() + "\n";
  }
  write_whole(file, lines);
  return static_cast<std::int64_t>(requests.size());
}

}  // namespace draftlab
