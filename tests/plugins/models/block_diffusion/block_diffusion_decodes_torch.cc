// Recorded decodes of the authors' loops (SDAR, Fast-dLLM v2, LLaDA2.1 with its token editing, S2D2
// on all three) are reproduced step by step: what is drafted, what is committed and why, the
// tokens, and the number of forwards.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "plugins/builtin.h"
#include "tests/plugins/models/recorded_torch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Hands out the recorded uniforms as the authors' loop draws them: one for every row of the block
// when it samples drafts, one for every position of the span before it tests the first, one for a
// residual. A right-shifted block's first token, which came with the forward before, is not drawn
// but the most probable one, at any temperature.
class Recorded final : public Chance {
 public:
  // `part`: how many rows are drafted at once. `known`: the first token of every so many positions
  // is not drawn; 0 where there is no such token.
  Recorded(const Json& trace, std::int32_t part, std::int32_t known, bool sampling)
      : part_(part), known_(known), sampling_(sampling) {
    if (!trace.contains("draws")) return;
    for (const auto& draw : trace["draws"]) draws_.emplace_back(draw[0], draw[1]);
    uniforms_ = trace["uniforms"].get<std::vector<double>>();
  }
  bool used_up() const { return next_ == draws_.size(); }

 private:
  // The uniforms of the next call that the authors' loop makes.
  void begin(const std::string& call, const Site& site, std::int32_t first, int count = 0) {
    if (next_ == draws_.size() || draws_[next_].first != call ||
        (count > 0 && draws_[next_].second != count)) {
      throw Fault("the authors' loop does not draw " + to_string(site));
    }
    begin_ += held_;
    held_ = draws_[next_++].second;
    first_ = first;
  }
  double at(std::int32_t position) const {
    return uniforms_.at(begin_ + static_cast<std::size_t>(position - first_));
  }

  Token read(const Distribution& distribution, const Site& site, Noise) override {
    return choose(distribution, site);
  }
  Token choose(const Distribution& distribution, const Site& site) override {
    if (site.purpose == Purpose::residual) {
      begin("multinomial", site, site.position, 1);
      return distribution.quantile(at(site.position));
    }
    if (known_ > 0 && site.position % known_ == 0) return distribution.argmax();
    if (!sampling_) throw Fault("the authors' loop takes the most probable token");
    if (drafted_ != site.clock + 1)
      begin("multinomial", site, site.position / part_ * part_, part_);
    drafted_ = site.clock + 1;
    return distribution.quantile(at(site.position));
  }

  std::vector<bool> compare(std::span<const double> probabilities, const Site& site) override {
    if (tested_ != site.clock + 1) begin("rand", site, site.position);
    tested_ = site.clock + 1;
    std::vector<bool> below;
    for (const double probability : probabilities) below.push_back(at(site.position) < probability);
    return below;
  }
  double gaussian(const Site&) override { throw Fault("nothing here is normal"); }

  std::vector<std::pair<std::string, int>> draws_;
  std::vector<double> uniforms_;
  std::int32_t part_, known_, first_ = 0;
  bool sampling_;
  std::size_t next_ = 0, begin_ = 0;
  int held_ = 0;
  std::uint32_t drafted_ = 0,
                tested_ = 0;  // The clock of the last step that drafted and tested, plus 1.
};

// The drafts of `denoise` as Fast-dLLM v2 claims them at temperature 0: top-p truncates the target
// alone.
class Untruncated final : public Drafter {
 public:
  explicit Untruncated(std::unique_ptr<Drafter> inner) : inner_(std::move(inner)) {}
  std::vector<Form> asks() const override { return inner_->asks(); }
  Asking<Proposal> propose(const Step& step) const override {
    Asking<Proposal> asking = inner_->propose(step);
    Proposal proposal = co_await asking;
    proposal.drawn_from = proposal.raw;
    co_return proposal;
  }

 private:
  std::unique_ptr<Drafter> inner_;
};

template <class T>
T value(const Json& args, const char* key, T fallback) {
  return args.contains(key) ? args[key].get<T>() : fallback;
}

// The config that says what the authors' arguments say.
std::string config_of(const Json& args, const std::string& loop, const TwoMasks& checkpoint) {
  const bool fast = loop.find("fast") != std::string::npos,
             llada2 = loop.find("llada2") != std::string::npos;
  const double temperature = args["temperature"];
  const bool greedy = fast || llada2 ? temperature == 0 : !args["do_sample"].get<bool>();
  const std::string remasking =
      value<std::string>(args, "remasking_strategy", "low_confidence_dynamic");
  const std::string policy = value<std::string>(args, "do_verify_policy", "never");
  const std::string width = std::to_string(checkpoint.vocabulary);
  std::ostringstream text;
  text << "model = block-diffusion\nfrontier = blocks\nverifier = chain\nacceptance = "
          "speculative\ntask = positions\n"
       << "drafter = " << (greedy && value(args, "top_p", 1.0) < 1 ? "untruncated" : "denoise")
       << "\n"
       << "unmasker = "
       << (remasking == "sequential"              ? "one"
           : remasking == "low_confidence_static" ? "static"
                                                  : "threshold")
       << "\n"
       << "router = "
       << (policy == "never"              ? "never"
           : policy == "mask_span_length" ? "min-span"
           : policy == "score_threshold"  ? "score"
           : policy == "score_hysteresis" ? "hysteresis"
                                          : "ucb")
       << "\n"
       << "estimator = "
       << (value<std::string>(args, "token_acceptance_estimator", "") == "hard_margin_threshold"
               ? "hard-margin"
               : "entropy")
       << "\n"
       << "[run]\nthreads = 1\n[task.positions]\nlength = 2\nprompt = 0:1\n"
       << "[decode]\nstop = off\nreads = drawn\nblock_size = "
       << (fast ? args["block_size"] : args["block_length"])
       << "\nsub_block = " << (fast ? args["small_block_size"].get<int>() : 0)
       << "\nsteps = " << (fast || llada2 ? 0 : args["denoising_steps"].get<int>())
       << "\nedit_threshold = " << value(args, "editing_threshold", 1.0)
       << "\npost_steps = " << value(args, "max_post_steps", 0) << "\nthreshold = "
       << (fast || llada2 ? args["threshold"].get<double>()
                          : value(args, "confidence_threshold", 0.85))
       << "\ntemperature = " << (greedy ? 1 : temperature)
       << "\ntop_k = " << value(args, "top_k", 0) << "\ntop_p = " << value(args, "top_p", 1.0)
       << "\n[drafter.denoise]\ngreedy = " << (greedy ? "true" : "false") << "\n"
       << "[model.block-diffusion]\ncheckpoint = " << checkpoint.path.string()
       << "\nverify_rows = block"
       << "\ncache = " << (value(args, "cache_ver", false) ? "causal" : "block")
       << "\ndraft_mask = " << (value(args, "draft_ver", false) ? "causal" : "block") << "\n"
       << "sub_block_cache = " << (value(args, "use_block_cache", false) ? "masked" : "off")
       << "\n[acceptance.speculative]\nresample = "
       << (value(args, "allow_resample", true) ? "true" : "false") << "\n"
       << "[estimator.entropy]\nwidth = " << width << "\n[estimator.hard-margin]\nstrict = true\n";
  const std::string score =
      value<std::string>(args, "do_verify_score_type", "") == "difference_static" ? "static"
                                                                                  : "dynamic";
  text << "[router.min-span]\nspan = " << value(args, "min_ssd_span_length", 1) << "\n"
       << "[router.score]\nscore = " << score
       << "\ncost = " << value(args, "score_penalty_coef", 2.0)
       << "\nthreshold = " << value(args, "do_verify_score_threshold", 0.0) << "\n"
       << "[router.hysteresis]\nscore = " << score
       << "\ncost = " << value(args, "score_penalty_coef", 2.0)
       << "\nstrict = true\non = " << value(args, "hysteresis_threshold_on", 0.0)
       << "\noff = " << value(args, "hysteresis_threshold_off", -1.0) << "\n"
       << "[router.ucb]\nbeta = " << value(args, "ucb_beta", 1.0)
       << "\ncount_prompt = " << (fast ? "true" : "false")
       << "\nwindow = " << (fast ? "sub-block" : "block") << "\nwidth = " << width << "\n";
  return text.str();
}

// How the recorded order writes a commit: its position, half a position more where it was
// resampled, negative where it was not verified; of LLaDA2, where it was. Plain decodes write
// positions alone.
double mark(const TokenRow& token, bool first_of_block, bool plain, bool llada2) {
  const auto source = static_cast<Source>(token.source);
  if (plain) return token.position;
  if (llada2)
    return source == Source::accepted    ? -token.position
           : source == Source::resampled ? -token.position - 0.5
                                         : token.position;
  if (first_of_block) return -token.position - 0.5;
  if (source == Source::resampled) return token.position + 0.5;
  return source == Source::accepted ? token.position : -token.position;
}

// Whether the recorded commits of a step are of positions that hold a token already.
bool overwrites(const std::vector<double>& marks, const Canvas& canvas) {
  return std::any_of(marks.begin(), marks.end(), [&](double mark) {
    const auto position = static_cast<std::int32_t>(std::abs(mark));
    return position < canvas.length() && !canvas.masked(position);
  });
}

struct Replayed {
  int steps = 0;
  bool whole = true;
};

Replayed replay(const TwoMasks& checkpoint, const std::string& loop, const Json& trace,
                const Registries& registries) {
  const Json& args = trace["args"];
  const bool fast = loop.find("fast") != std::string::npos,
             llada2 = loop.find("llada2") != std::string::npos,
             plain = loop == "sdar_block_diffusion";
  Diagnostics diagnostics;
  const Composition composition =
      compose(Config::parse(config_of(args, loop, checkpoint), "test.ini", diagnostics), registries,
              diagnostics);
  diagnostics.raise();
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);

  const std::vector<Token> given = trace["prompt"], output = trace["output"];
  Prompt prompt;
  prompt.id = "recorded";
  prompt.length = static_cast<int>(output.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    prompt.given.emplace_back(static_cast<std::int32_t>(i), given[i]);
  const bool sampling =
      fast || llada2 ? args["temperature"].get<double>() > 0 : args["do_sample"].get<bool>();
  const std::int32_t block = fast ? args["block_size"] : args["block_length"];
  Recorded chance(trace, fast ? args["small_block_size"].get<int>() : block, fast ? block : 0,
                  sampling);
  Decoder decoder(composition, models, prompt, {chance, 0});

  std::vector<std::vector<double>> order;  // The order of the commits, a step a list.
  std::vector<std::vector<std::pair<std::int32_t, Token>>> edits;  // LLaDA2 alone has edits.
  for (const auto& step : trace["decoding_order"]) {
    order.emplace_back();
    edits.emplace_back();
    if (llada2)
      for (const auto& edit : step["edit"]) edits.back().emplace_back(edit[0], edit[2]);
    for (const auto& entry : llada2 ? step["unmask"] : step)
      if (entry.is_number()) order.back().push_back(entry.get<double>());
    std::sort(order.back().begin(), order.back().end());
  }
  // Recorded forwards: how many rows denoising had, and of SDAR what went in.
  const Json no_steps = Json::array();
  const Json& forwards = trace.contains("steps") ? trace["steps"] : no_steps;
  std::size_t forward = 0;
  const auto follow = [&](const std::string& kind, std::int64_t rows, std::int32_t first,
                          const std::function<Token(std::int32_t)>& token) {
    while (forward < forwards.size() && forwards[forward]["kind"] == "commit_or_prefill") ++forward;
    if (forward == forwards.size()) return;
    const Json& recorded = forwards[forward++];
    DOCTEST_CHECK(recorded["kind"] == kind);
    if (kind == "denoise") DOCTEST_CHECK(recorded["len"].get<std::int64_t>() == rows);
    if (!recorded.contains("input_ids")) return;
    for (std::int32_t i = 0; i < block; ++i)
      DOCTEST_CHECK(recorded["input_ids"][i].get<Token>() == token(first + i));
  };

  Replayed replayed;
  std::vector<Token> canvas = decoder.canvas().tokens();
  for (std::size_t at = 0; !decoder.done(); ++at) {
    // The authors' loop fills a quota that is larger than what is left with committed positions.
    if (at < order.size() && overwrites(order[at], decoder.canvas())) {
      replayed.whole = false;
      return replayed;
    }
    drive(models, decoder, decoder.step());
    const StepRow& step = decoder.row().steps.back();
    DOCTEST_INFO("step " << at);
    // This is LLaDA2's own loop: the same without a cache, of which the text and the forwards are
    // recorded.
    if (trace["decoding_order"].is_null()) {
      for (const TokenRow& token : step.tokens) canvas[token.position] = token.token;
      ++replayed.steps;
      continue;
    }
    DOCTEST_REQUIRE(at < order.size());
    const std::int32_t first =
        step.drafts.empty() ? 0 : step.drafts.front().position / block * block;
    const auto before = [&](std::int32_t i) {
      return canvas[i] == kNoToken ? checkpoint.mask : canvas[i];
    };
    const Count &drafted_by = step.counts[Kind::draft], &verified_by = step.counts[Kind::verify];
    if (drafted_by.calls > 0) follow("denoise", drafted_by.positions, first, before);
    if (verified_by.calls > 0) {
      const auto drafted = [&](std::int32_t i) {
        for (const DraftRow& draft : step.drafts)
          if (draft.position == i) return draft.token;
        return before(i);
      };
      follow("verify2l", verified_by.positions, first, drafted);
    }
    std::vector<double> marks;
    std::vector<std::pair<std::int32_t, Token>> edited;
    bool mask_committed = false;
    for (const TokenRow& token : step.tokens) {
      canvas[token.position] = token.token;
      if (static_cast<Source>(token.source) == Source::edited) {
        edited.emplace_back(token.position, token.token);
        continue;
      }
      marks.push_back(mark(token, fast && token.position % block == 0, plain, llada2));
      mask_committed = mask_committed || token.token == checkpoint.mask;
    }
    std::sort(marks.begin(), marks.end());
    DOCTEST_CHECK(marks == order[at]);
    DOCTEST_CHECK(edited == edits[at]);
    ++replayed.steps;
    // The authors' loop drew the mask token, hence stays where it was; this one never draws it.
    if (mask_committed) {
      replayed.whole = false;
      return replayed;
    }
  }
  DOCTEST_CHECK(canvas == output);
  if (trace["decoding_order"].is_null()) {
    DOCTEST_CHECK(replayed.steps == trace["nfe"].get<int>());
    return replayed;
  }
  DOCTEST_CHECK(static_cast<std::size_t>(replayed.steps) == order.size());
  DOCTEST_CHECK(chance.used_up());
  // The canvas of Fast-dLLM v2 ends with the token that came along with the last block's forward;
  // here that token is a block of its own, which is cached as any other.
  const bool lone = fast && prompt.length % block == 1;
  // LLaDA2's loop does not cache its last block.
  const std::int64_t forwards_made = trace[llada2 ? "nfe" : "forwards"];
  DOCTEST_CHECK(decoder.nfe() == forwards_made + (lone || llada2));
  return replayed;
}

}  // namespace

DOCTEST_TEST_CASE("parity: recorded decodes of block diffusion, commit for commit") {
  Registries registries;
  for (const auto add :
       {register_model_block_diffusion, register_frontier_blocks, register_drafter_denoise,
        register_verifier_chain, register_acceptance_speculative, register_router_always,
        register_router_never, register_router_min_span, register_router_score,
        register_router_hysteresis, register_router_ucb, register_estimator_entropy,
        register_estimator_hard_margin, register_unmasker_one, register_unmasker_static,
        register_unmasker_threshold, register_task_positions}) {
    add(registries);
  }
  registries.drafters.add_with<NoOptions>(
      "untruncated", "denoise, greedy, whose claims top-p leaves alone", {},
      [&](const NoOptions&) -> std::unique_ptr<Drafter> {
        Diagnostics diagnostics;
        const Config config =
            Config::parse("[drafter.denoise]\ngreedy = true\n", "test.ini", diagnostics);
        return std::make_unique<Untruncated>(registries.drafters.find("denoise")
                                                 ->bind(config, "drafter.denoise", diagnostics)
                                                 .make());
      });
  for (const auto& [folder, name, family] :
       bundles_of({"sdar", "llada2_moe", "Fast_dLLM_Qwen"}, "decodes of block diffusion")) {
    const TwoMasks checkpoint(folder);
    for (const std::string file : {"decode", "ssd"}) {
      if (!fs::exists(folder / (file + ".json"))) continue;
      const Json decodes = Json::parse(std::ifstream(folder / (file + ".json")));
      int number = -1, whole = 0, part = 0, steps = 0;
      for (const Json& trace : decodes["traces"]) {
        ++number;
        DOCTEST_INFO(name << " " << file << " trace " << number << ": " << trace["args"].dump());
        const Replayed replayed = replay(checkpoint, trace["loop"], trace, registries);
        steps += replayed.steps;
        if (!replayed.whole)
          std::cout << "parity " << name << " " << file << " trace " << number << ": up to step "
                    << replayed.steps << " of " << trace["decoding_order"].size() << "\n";
        ++(replayed.whole ? whole : part);
      }
      std::cout << "parity " << name << " " << file << ": " << whole
                << " recorded decodes reproduced, commit for commit; " << part
                << " up to where they draw the mask token or overwrite a token; " << steps
                << " steps\n";
      DOCTEST_CHECK(whole > 0);
    }
  }
}

}  // namespace draftlab
