#include "experiments/bench/model_passes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

std::vector<std::int32_t> positions_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int32_t> positions;
  for (std::int64_t i = 0; i < count; ++i)
    positions.push_back(static_cast<std::int32_t>(first + i));
  return positions;
}

// Drafts `count` tokens one after another from `first` on, each asked before it is known.
Question path(std::int64_t first, std::int64_t count) {
  Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
  for (int i = 0; i < count; ++i) {
    const auto position = static_cast<std::int32_t>(first + i);
    question.asks.push_back({i - 1, {position}});
    question.nodes.push_back({i - 1, position, static_cast<Token>(100 + i)});
  }
  return question;
}

}  // namespace

Work::Work(const std::string& folder, std::int64_t parameters) {
  const ConfigFile file = ConfigFile::in(folder, "a checkpoint is a folder with config.json");
  if (file.family() == "xlnet") {
    constexpr std::int64_t kMost = 1 << 30;
    const auto size = [&](const char* key) { return file.integer(key, 1, kMost, 0); };
    width = size("d_model"), vocabulary = size("vocab_size"), layers = size("n_layer");
    attention = size("n_head") * size("d_head");
    // Positions are projected once.
    always = parameters - vocabulary * width - layers * width * attention;
    products = 3;  // Positions have a score of their own.
    return;
  }
  const TransformerConfig config = TransformerConfig::read(folder);
  width = config.hidden_size, vocabulary = config.vocab_size, layers = config.num_hidden_layers;
  attention = config.num_attention_heads * config.head_dim;
  experts = config.experts.count, chosen = config.experts.chosen;
  for (std::int64_t i = 0; i < layers; ++i)
    if (config.has_experts(i)) routed += experts * 3 * config.experts.inner * width;
  always = parameters - routed - vocabulary * width * (config.tie_word_embeddings ? 1 : 2);
  if (config.gpt2()) always -= config.max_position_embeddings * width;
}

double Work::operations(const Count& rows, std::int64_t asked, std::int64_t seen) const {
  const double own = static_cast<double>(always) +
                     (experts > 0 ? static_cast<double>(routed * chosen / experts) : 0);
  return static_cast<double>(rows.positions) *
             (2 * own + 2 * static_cast<double>(products * layers * attention * seen)) +
         2.0 * static_cast<double>(asked * vocabulary * width);
}

double Work::bytes(const Count& rows, std::int64_t asked, double size) const {
  const double share = experts > 0 ? std::min(1.0, static_cast<double>(rows.positions * chosen) /
                                                       static_cast<double>(experts))
                                   : 0;
  return size * (static_cast<double>(always) + share * static_cast<double>(routed) +
                 (asked > 0 ? static_cast<double>(vocabulary * width) : 0));
}

std::vector<Pass> passes(const std::string& model, bool right_shifted, std::int64_t prompt,
                         std::int64_t block) {
  const std::vector<Ask> whole{{kRoot, positions_from(prompt, block)}},
      next{{kRoot, positions_from(prompt, 1)}};
  const Question denoise{
      .kind = Kind::draft, .view = View::bidirectional, .nodes = {}, .asks = whole};
  const Question causal{.kind = Kind::draft,
                        .view = View::causal,
                        .nodes = {},
                        .asks = model == "any-subset" ? whole : next};
  Question step = causal;
  if (model == "block-diffusion" && right_shifted) {
    step = path(prompt, 1);
    step.kind = Kind::draft;
    step.asks = {{0, positions_from(prompt + 1, 1)}};
  }
  if (model == "masked-diffusion")
    return {{"whole canvas", Kind::draft, denoise}, {"denoising", Kind::draft, denoise}};
  if (model == "block-diffusion")
    return {{"prefill", Kind::prefill, {}},
            {"denoising", Kind::draft, denoise},
            {"verification", Kind::verify, path(prompt, block)},
            {"cached step", Kind::draft, step}};
  return {{"prefill", Kind::draft, causal},
          {model == "any-subset" ? "drafting" : "cached step", Kind::draft, causal},
          {"verification", Kind::verify, path(prompt, block)}};
}

}  // namespace draftlab
