// SEDD as a masked-diffusion model: its laws against those that numpy computed in f64 from the
// published equations (make_bundle.py), the noise level of each question, and what is refused.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>

#include <unistd.h>

#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/base/words.h"
#include "plugins/models/autoregressive/autoregressive.h"
#include "plugins/models/bench/random_checkpoint.h"
#include "plugins/models/block_diffusion/block_diffusion.h"
#include "plugins/models/masked_diffusion/masked_diffusion.h"
#include "plugins/models/masked_diffusion/noise_level.h"
#include "plugins/models/nn/transformer/device_rows_torch.h"
#include "plugins/models/nn/transformer/transformer_training_torch.h"
#include "plugins/models/widen/families_torch.h"
#include "tests/core/model/ask.h"
#include "tests/plugins/models/recorded_torch.h"
#include "tests/plugins/models/rounding.h"

namespace draftlab {
namespace {

using namespace testing;
namespace fs = std::filesystem;

const fs::path kTiny = fs::path(DRAFTLAB_SOURCE_DIR) / "tests/plugins/models/sedd/tiny";
constexpr Token kAbsorbed = 40;  // The bundle's mask.

struct SeddFolder {
  fs::path path = fs::temp_directory_path() / ("draftlab-sedd-" + std::to_string(::getpid()));
  SeddFolder() { fs::copy(kTiny, path); }
  ~SeddFolder() { fs::remove_all(path); }

  void rewrite(const std::string& from, const std::string& to) const {
    std::ostringstream read;
    read << std::ifstream(kTiny / "config.json").rdbuf();
    std::string text = read.str();
    const std::size_t at = text.find(from);
    DOCTEST_REQUIRE(at != std::string::npos);
    std::ofstream(path / "config.json") << text.replace(at, from.size(), to);
  }
};

std::unique_ptr<Model> made_sedd(MaskedDiffusionOptions options = {},
                                 const fs::path& checkpoint = kTiny) {
  options.checkpoint = checkpoint.string();
  std::unique_ptr<Model> model(draftlab_make_masked_diffusion(&options));
  model->load({Device::cpu, Precision::f32, 1});
  return model;
}

// How far two computations of this network may lie apart whose largest number is `largest`.
double allowed(const TransformerConfig& config, std::int64_t positions, double largest) {
  return rounding({.layers = static_cast<double>(config.num_hidden_layers),
                   .width = static_cast<double>(config.hidden_size),
                   .inner = static_cast<double>(config.intermediate_size),
                   .positions = static_cast<double>(positions)},
                  largest);
}

void expect_near(const TransformerConfig& config, const at::Tensor& actual,
                 const at::Tensor& expected) {
  DOCTEST_REQUIRE(actual.sizes() == expected.sizes());
  const double furthest = (actual - expected).abs().max().item<double>(),
               most = allowed(config, expected.size(-2), expected.abs().max().item<double>());
  DOCTEST_INFO("differs by " << furthest << ", and may by " << most);
  DOCTEST_CHECK(furthest <= most);
}

// The logarithms of the law that a row of scores stands for: the absorbing state is no token.
at::Tensor log_law(const at::Tensor& scores) {
  return scores.narrow(-1, 0, kAbsorbed).log_softmax(-1).contiguous();
}

// A canvas on which the tokens of a text are given and its masks are masks.
Canvas canvas_of_text(const at::Tensor& ids) {
  std::vector<std::pair<std::int32_t, Token>> given;
  for (std::int64_t i = 0; i < ids.size(0); ++i)
    if (const auto token = ids[i].item<std::int64_t>(); token != kAbsorbed)
      given.emplace_back(static_cast<std::int32_t>(i), static_cast<Token>(token));
  return {static_cast<int>(ids.size(0)), given};
}

Question all_masks(const Canvas& canvas) {
  return {.kind = Kind::draft,
          .view = View::bidirectional,
          .nodes = {},
          .asks = {{kRoot, canvas.masked_positions()}}};
}

bool same_law(const Distribution& a, const Distribution& b) {
  return (a.probabilities() == b.probabilities()).all();
}

}  // namespace

DOCTEST_TEST_CASE("parity: sedd, whole, row by row and in tensor operations") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const SafetensorsFile io((kTiny / "io.safetensors").string());
  const Transformer net = Transformer::load(kTiny.string());
  const at::Tensor ids = read(io, "input_ids"), sigma = read(io, "sigma"),
                   scores = read(io, "score");
  const std::int64_t length = ids.size(1);
  const ForwardInput input{
      ids, at::arange(length, at::kLong).unsqueeze(0).expand_as(ids), {}, {}, sigma};
  const std::vector<at::Tensor> hidden = transformer_hidden(net, input);
  for (std::size_t i = 0; i < hidden.size(); ++i)
    expect_near(net.config, hidden[i], read(io, "hidden." + std::to_string(i)));
  const at::Tensor logits = transformer_logits(net, input);
  const DeviceRows tensors(net, at::kFloat);
  const auto model = made_sedd();
  double largest = 0;
  for (std::int64_t text = 0; text < ids.size(0); ++text) {
    const Canvas canvas = canvas_of_text(ids[text]);
    DOCTEST_CHECK(noise_level(static_cast<std::int64_t>(canvas.masked_positions().size()),
                              length) == doctest::Approx(sigma[text].item<double>()));
    RowMemory memory(net.config, length);
    std::vector<MemoryRow> rows;
    for (std::int64_t i = 0; i < length; ++i)
      rows.push_back({.memory = &memory,
                      .position = static_cast<std::int32_t>(i),
                      .token = static_cast<Token>(ids[text][i].item<std::int64_t>()),
                      .slot = i,
                      .limit = length,
                      .extras = {},
                      .asked = true,
                      .noise = sigma[text].item<float>()});
    const at::Tensor computed = tensors.forward(rows);
    const auto sequence = model->open(canvas, {});
    const Answer answer = testing::ask(*model, *sequence, all_masks(canvas));
    for (const std::int32_t position : canvas.masked_positions()) {
      const at::Tensor expected = log_law(scores[text][position]);
      const double most =
          2 * allowed(net.config, length, scores[text][position].abs().max().item<double>());
      for (const at::Tensor& other : {logits[text][position], computed[position]})
        DOCTEST_CHECK((log_law(other) - expected).abs().max().item<double>() <= most);
      const Distribution& law = answer.at(kRoot, position);
      DOCTEST_CHECK(law.probabilities()[kAbsorbed] == 0);
      for (Token token = 0; token < kAbsorbed; ++token) {
        const double off = std::abs(law.log_probability(token) - expected[token].item<double>());
        largest = std::max(largest, off);
        DOCTEST_CHECK(off <= most);
      }
    }
  }
  std::cout << "parity sedd: log p differs by " << largest << " at most\n";
}

DOCTEST_TEST_CASE("sedd: each state of a question has the noise level of what is masked in it") {
  at::set_num_threads(1);
  const auto model = made_sedd();
  DOCTEST_CHECK(model->rows_are_independent());
  Canvas ahead(12, std::vector<std::pair<std::int32_t, Token>>{{0, 1}, {7, 2}});
  const Canvas other(9, std::vector<std::pair<std::int32_t, Token>>{{3, 5}});
  const auto drafting = model->open(ahead, {}), beside = model->open(other, {}),
             alone = model->open(other, {});
  // Two drafted tokens, and both states asked along with the root; in the same batch another text.
  const Question question{.kind = Kind::verify,
                          .view = View::bidirectional,
                          .nodes = {{kRoot, 4, 9}, {0, 2, 30}},
                          .asks = {{kRoot, {5}}, {0, {5}}, {1, {5}}}};
  const Question plain = all_masks(other);
  Answer answers[2];
  Pending pending[2] = {{drafting.get(), &question, &answers[0]},
                        {beside.get(), &plain, &answers[1]}};
  model->answer(pending);
  const Answer by_itself = testing::ask(*model, *alone, plain);
  for (const std::int32_t position : other.masked_positions())
    DOCTEST_CHECK(same_law(answers[1].at(kRoot, position), by_itself.at(kRoot, position)));
  Canvas behind = ahead;
  const auto committing = model->open(behind, {});
  const std::vector<std::pair<std::int32_t, Token>> drafts = {{4, 9}, {2, 30}};
  for (int node = kRoot; node < 2; ++node) {
    DOCTEST_INFO("node " << node);
    if (node >= 0) behind.commit(drafts[node].first, drafts[node].second);
    const Answer then = testing::ask(*model, *committing, all_masks(behind));
    DOCTEST_CHECK(same_law(answers[0].at(node, 5), then.at(kRoot, 5)));
  }
}

DOCTEST_TEST_CASE("sedd: noise masks a position with the share that is masked") {
  for (const std::int64_t masked : {0, 1, 500, 998})
    DOCTEST_CHECK(1 - std::exp(-noise_level(masked, 1000)) ==
                  doctest::Approx(static_cast<double>(masked) / 1000).epsilon(1e-5));
  // The level of a canvas of masks is where log-linear noise ends.
  DOCTEST_CHECK(noise_level(7, 7) == doctest::Approx(std::log(1000)));
}

DOCTEST_TEST_CASE("sedd: what is saved is read again, under the published names") {
  const at::NoGradGuard no_grad;
  const SeddFolder folder;
  const Transformer net = Transformer::load(kTiny.string());
  net.save(folder.path.string(), false);
  const SafetensorsFile bundle((kTiny / "model.safetensors").string());
  std::set<std::string> names, published;
  for (const auto& [name, tensor] : net.stored_tensors()) names.insert(name);
  for (const auto& [name, tensor] : bundle.tensors()) published.insert(name);
  published.erase("rotary_emb.inv_freq");
  DOCTEST_CHECK(names == published);
  const Transformer again = Transformer::load(folder.path.string());
  const auto before = net.stored_tensors(), after = again.stored_tensors();
  DOCTEST_REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    DOCTEST_CHECK(at::equal(before[i].second, after[i].second));
  DOCTEST_CHECK(again.config.max_position_embeddings == 64);
}

DOCTEST_TEST_CASE("sedd: the published shapes have the published numbers of parameters") {
  const SeddFolder folder;
  for (const auto& [name, parameters] :
       {std::pair<std::string, std::int64_t>{"sedd-small", 169'627'218},
        {"sedd-medium", 424'477'010}}) {
    write_published_config(name, folder.path.string());
    std::int64_t counted = 0;
    const Transformer net = Transformer::hollow(TransformerConfig::read(folder.path.string()));
    for (const auto& [tensor, weights] : net.named_parameters()) counted += weights.numel();
    DOCTEST_CHECK(counted == parameters);
  }
}

DOCTEST_TEST_CASE("sedd: what is not this network, and who cannot decode it, is refused") {
  const SeddFolder folder;
  const auto read_config = [&] { TransformerConfig::read(folder.path.string()); };
  folder.rewrite("absorb", "uniform");
  DOCTEST_CHECK_THROWS_WITH_AS(
      read_config(), doctest::Contains("'graph.type' is 'uniform', only 'absorb'"), DataError);
  folder.rewrite("loglinear", "geometric");
  DOCTEST_CHECK_THROWS_WITH_AS(
      read_config(), doctest::Contains("'noise.type' is 'geometric', only 'loglinear'"), DataError);
  folder.rewrite("\"n_heads\": 4", "\"n_heads\": 32");
  DOCTEST_CHECK_THROWS_WITH_AS(read_config(), doctest::Contains("no even multiple of the 32"),
                               DataError);
  folder.rewrite("\"tokens\": 40", "\"tokens\": 41");
  DOCTEST_CHECK_THROWS_WITH_AS(made_sedd({}, folder.path),
                               doctest::Contains("vocab_embed.embedding"), DataError);
  for (const CanvasCache cache : {CanvasCache::prefix, CanvasCache::dual}) {
    MaskedDiffusionOptions options;
    options.cache = cache;
    DOCTEST_CHECK_THROWS_WITH_AS(
        made_sedd(options),
        doctest::Contains(
            ("model.masked-diffusion.cache = " + std::string(word(cache)) + ", but the layers of")
                .c_str()),
        ConfigError);
  }
  BlockDiffusionOptions blocks;
  blocks.checkpoint = kTiny.string();
  const std::unique_ptr<Model> blockwise(draftlab_make_block_diffusion(&blocks));
  DOCTEST_CHECK_THROWS_WITH_AS(blockwise->load({Device::cpu, Precision::f32, 1}),
                               doctest::Contains("model = masked-diffusion"), DataError);
  AutoregressiveOptions causal;
  causal.checkpoint = kTiny.string();
  const std::unique_ptr<Model> left(draftlab_make_autoregressive(&causal));
  DOCTEST_CHECK_THROWS_WITH_AS(left->load({Device::cpu, Precision::f32, 1}),
                               doctest::Contains("model = masked-diffusion"), DataError);
  DOCTEST_CHECK_THROWS_WITH_AS(widen_transformer(kTiny.string()),
                               doctest::Contains("read a noise level"), DataError);
  DOCTEST_CHECK_THROWS_WITH_AS(training_hidden(Transformer::load(kTiny.string()), {}, false),
                               doctest::Contains("family sedd"), DataError);
}

}  // namespace draftlab
