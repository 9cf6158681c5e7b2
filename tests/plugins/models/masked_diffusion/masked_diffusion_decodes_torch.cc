// Recorded decodes of the authors' loops (LLaDA, Dream, Fast-dLLM for both) are reproduced by the
// composed one, forward by forward: how many positions each computes, and what is committed after
// it.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

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

// Fast-dLLM's port for Dream: a block's first step commits its first position, whatever the rule is
// for those that follow; a slice that begins there could not answer it, because the logits are
// shifted.
class FirstFirst final : public Unmasker {
 public:
  explicit FirstFirst(std::unique_ptr<Unmasker> inner) : inner_(std::move(inner)) {}
  void begin(const Blocks& blocks, const DecodeOptions& decode) override {
    blocks_ = blocks;
    inner_->begin(blocks, decode);
  }
  Verdict choose(const Step& step, const Proposal& proposal) const override {
    const Node& first = proposal.nodes.front();
    if (blocks_.first(first.position) != first.position) return inner_->choose(step, proposal);
    return {.commits = {{first.position, first.token, Source::threshold}},
            .edits = {},
            .why = Stop::unverified,
            .carry = {},
            .judged = {}};
  }
  int preview(const Step& step, const Proposal& proposal) const override {
    return inner_->preview(step, proposal);
  }
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    inner_->observe(canvas, route, verdict);
  }
  std::string state() const override { return inner_->state(); }

 private:
  Blocks blocks_;
  std::unique_ptr<Unmasker> inner_;
};

// Nothing is verified, and the default verifier asks chains, which the model does not answer.
class Unused final : public Verifier {
 public:
  Asking<Verdict> judge(const Step&, const Proposal&, const Acceptance&) const override {
    throw Fault("nothing is verified here");
  }
};

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

// The config that says what the authors' arguments say.
std::string masked_config(const std::string& loop, const Json& args, const TwoMasks& checkpoint) {
  const bool dream = has(loop, "dream"), blockwise = args.contains("block_length");
  const std::string alg = args.value("alg", "");
  const bool threshold = dream ? alg == "confidence_threshold"
                               : args.contains("threshold") && !args["threshold"].is_null();
  const int length = args[dream ? "max_new_tokens" : "gen_length"],
            blocks = blockwise ? length / args["block_length"].get<int>() : 1;
  const std::string rule = threshold ? "threshold" : "static";
  const std::string order = alg == "maskgit_plus"  ? "confidence"
                            : alg == "topk_margin" ? "margin"
                                                   : "entropy";
  const bool dual = has(loop, "dual") || args.value("dual_cache", false),
             prefix = has(loop, "prefix") || (has(loop, "dream_block") && !dual);
  std::ostringstream text;
  text << "model = masked-diffusion\nfrontier = blocks\ndrafter = denoise\nverifier = "
          "unused\nrouter = never\ntask = positions\n"
       << "unmasker = " << (has(loop, "dream_block") ? "first-" : "") << rule
       << (has(loop, "dream_block") && !threshold ? "-" + order : "") << "\n"
       << "[run]\nthreads = 1\n[task.positions]\nlength = 2\nprompt = 0:1\n"
       << "[model.masked-diffusion]\ncheckpoint = " << checkpoint.path.string() << "\ncache = "
       << (dual     ? "dual"
           : prefix ? "prefix"
                    : "none")
       << "\n"
       << "[decode]\nstop = off\ntemperature = 0\nalign = prompt\nblock_size = "
       << (blockwise ? args["block_length"].get<int>() : 0) << "\n"
       << "steps = " << (threshold ? 0 : args["steps"].get<int>() / blocks) << "\n";
  if (threshold) text << "threshold = " << args["threshold"] << "\n";
  if (has(loop, "noblock"))
    text << "[unmasker.threshold]\nmost = " << length / args["steps"].get<int>() << "\n";
  if (dream && !threshold) {
    text << "[unmasker.static]\nschedule = timesteps\norder = " << order << "\n";
  }
  return text.str();
}

struct MaskedReplayed {
  int forwards = 0;
  int idle = 0;  // The forwards over complete blocks, which the composed loop is spared.
  bool whole = true;
};

MaskedReplayed masked_replay(const TwoMasks& checkpoint, const Json& trace,
                             const Registries& registries) {
  Diagnostics diagnostics;
  const Config config = Config::parse(masked_config(trace["loop"], trace["args"], checkpoint),
                                      "test.ini", diagnostics);
  const Composition composition = compose(config, registries, diagnostics);
  diagnostics.raise();
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  const std::vector<Token> given = trace["prompt"], output = trace["output"];
  Prompt prompt;
  prompt.id = "recorded";
  prompt.length = static_cast<int>(output.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    prompt.given.emplace_back(static_cast<std::int32_t>(i), given[i]);
  SampledChance chance(1);
  Decoder decoder(composition, models, prompt, {chance, 0});

  const Json& recorded = trace["steps"];
  std::size_t at = 0;
  MaskedReplayed replayed;
  const auto complete = [&](std::int32_t start) {
    std::int32_t i = start;
    const std::int32_t end = composition.decode.blocks(decoder.canvas()).end(start, prompt.length);
    while (i < end && !decoder.canvas().masked(i)) ++i;
    return i == end;
  };
  // Fast-dLLM's loops compute a block once more even where its first forward has completed it.
  const auto skip_idle = [&] {
    for (; at < recorded.size() && recorded[at]["commits"].empty() && recorded[at]["start"] > 0 &&
           complete(recorded[at]["start"]);
         ++at)
      ++replayed.idle;
  };
  skip_idle();
  while (!decoder.done()) {
    DOCTEST_INFO("forward " << at);
    DOCTEST_REQUIRE(at < recorded.size());
    // The authors' loop fills a quota that is larger than what is left with committed positions.
    for (const Json& commit : recorded[at]["commits"]) {
      if (!decoder.canvas().masked(commit[0])) {
        replayed.whole = false;
        return replayed;
      }
    }
    const std::int64_t positions = decoder.sequence(0).counts()[Kind::draft].positions;
    drive(models, decoder, decoder.step());
    DOCTEST_CHECK(decoder.sequence(0).counts()[Kind::draft].positions - positions ==
                  recorded[at]["len"].get<std::int64_t>());
    std::vector<std::pair<std::int32_t, Token>> commits, expected;
    bool drew_mask = false;
    for (const TokenRow& token : decoder.row().steps.back().tokens) {
      if (token.token == checkpoint.mask)
        drew_mask = true;
      else
        commits.emplace_back(token.position, token.token);
    }
    for (const Json& commit : recorded[at]["commits"]) expected.emplace_back(commit[0], commit[1]);
    std::sort(commits.begin(), commits.end());
    std::sort(expected.begin(), expected.end());
    DOCTEST_REQUIRE(commits == expected);
    ++replayed.forwards;
    // The authors' loop wrote the mask token, hence the position stays masked; this one never draws
    // it.
    if (drew_mask) {
      replayed.whole = false;
      return replayed;
    }
    ++at;
    skip_idle();
  }
  DOCTEST_CHECK(at == recorded.size());
  DOCTEST_CHECK(decoder.canvas().tokens() == output);
  DOCTEST_CHECK(decoder.nfe() + replayed.idle == trace["forwards"].get<std::int64_t>());
  return replayed;
}

}  // namespace

DOCTEST_TEST_CASE("parity: recorded decodes of masked diffusion, commit for commit") {
  Registries registries;
  for (const auto add :
       {register_model_masked_diffusion, register_frontier_blocks, register_drafter_denoise,
        register_acceptance_speculative, register_router_never, register_unmasker_static,
        register_unmasker_threshold, register_task_positions}) {
    add(registries);
  }
  registries.verifiers.add_with<NoOptions>(
      "unused", "for decodes without verification", {},
      [](const NoOptions&) { return std::make_unique<Unused>(); });
  for (const std::string order : {"", "confidence", "margin", "entropy"}) {
    const std::string rule = order.empty() ? "threshold" : "static";
    registries.unmaskers.add_with<NoOptions>(
        "first-" + rule + (order.empty() ? "" : "-" + order), "a block's first position first", {},
        [rule, order, &registries](const NoOptions&) -> std::unique_ptr<Unmasker> {
          Diagnostics diagnostics;
          const Config schedule = Config::parse(
              order.empty() ? ""
                            : "[unmasker.static]\nschedule = timesteps\norder = " + order + "\n",
              "test.ini", diagnostics);
          return std::make_unique<FirstFirst>(registries.unmaskers.find(rule)
                                                  ->bind(schedule, "unmasker." + rule, diagnostics)
                                                  .make());
        });
  }
  for (const auto& [folder, name, family] :
       bundles_of({"llada", "Dream"}, "decodes of masked diffusion")) {
    if (!fs::exists(folder / "decode.json")) continue;
    const TwoMasks checkpoint(folder);
    const Json decodes = Json::parse(std::ifstream(folder / "decode.json"));
    int forwards = 0, idle = 0, whole = 0, part = 0;
    for (const Json& trace : decodes["traces"]) {
      DOCTEST_INFO(name << " trace " << whole + part << ": " << trace["loop"].get<std::string>()
                        << " " << trace["args"].dump());
      const MaskedReplayed replayed = masked_replay(checkpoint, trace, registries);
      forwards += replayed.forwards;
      idle += replayed.idle;
      ++(replayed.whole ? whole : part);
    }
    std::cout << "parity " << name << ": " << whole
              << " recorded decodes reproduced, commit for commit; " << part
              << " up to where they draw the mask token or overwrite a token; " << forwards
              << " forwards, and " << idle << " over blocks that were complete already\n";
    DOCTEST_CHECK(whole > 0);
  }
}

}  // namespace draftlab
