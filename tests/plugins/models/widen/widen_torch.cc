// A widened checkpoint answers as the original does: to the last bit where rows are padded, to
// rounding where they are repeated; and it has the parameters that were asked for.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/autoregressive/autoregressive.h"
#include "plugins/models/block_diffusion/block_diffusion.h"
#include "plugins/models/mar/mar.h"
#include "plugins/models/masked_diffusion/masked_diffusion.h"
#include "plugins/models/nn/checkpoint/origin.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "plugins/models/widen/widen.h"
#include "plugins/models/xlnet/any_subset.h"
#include "tests/core/model/ask.h"
#include "tests/plugins/models/rounding.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

using testing::ask;

struct Scratch {
  fs::path path = fs::temp_directory_path() / ("draftlab-widen-" + std::to_string(::getpid()));
  Scratch() { fs::create_directories(path); }
  ~Scratch() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

std::string shipped(const std::string& name) {
  return std::string(DRAFTLAB_SOURCE_DIR) + "/data/checkpoints/" + name;
}

Widened widened(const std::string& from, const std::string& to, std::int64_t parameters) {
  const WidenJob job{from, to, parameters};
  Widened result;
  draftlab_widen(&job, &result);
  return result;
}

template <class Options>
std::unique_ptr<Model> make(Model* (*made)(const Options*), const std::string& checkpoint,
                            Precision dtype, Options options = {}) {
  options.checkpoint = checkpoint;
  std::unique_ptr<Model> model(made(&options));
  model->load({.dtype = dtype, .threads = 1});
  return model;
}

// The probabilities that a model gives to the tokens at `asked`, after `prompt`.
std::vector<double> told(Model& model, const std::vector<std::pair<std::int32_t, Token>>& prompt,
                         View view, const std::vector<std::int32_t>& asked, Blocks blocks = {}) {
  const Canvas canvas(24, prompt);
  const std::unique_ptr<Sequence> sequence = model.open(canvas, blocks);
  while (const std::optional<Question> due = model.due(*sequence)) ask(model, *sequence, *due);
  const Answer answer = ask(
      model, *sequence, {.kind = Kind::draft, .view = view, .nodes = {}, .asks = {{kRoot, asked}}});
  std::vector<double> all;
  for (const std::int32_t position : asked) {
    const Eigen::ArrayXd& p = answer.at(kRoot, position).probabilities();
    all.insert(all.end(), p.begin(), p.end());
  }
  return all;
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  DOCTEST_REQUIRE(a.size() == b.size());
  DOCTEST_REQUIRE_FALSE(a.empty());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

const std::vector<std::pair<std::int32_t, Token>> kPrompt = {{0, 9},  {1, 20}, {2, 33}, {3, 17},
                                                             {4, 60}, {5, 41}, {6, 12}, {7, 25}};

}  // namespace

DOCTEST_TEST_CASE("a block-diffusion model of four times the width answers bit for bit") {
  const Scratch scratch;
  const Widened wide = widened(shipped("arithmetic"), scratch / "wide", 30'000'000);
  DOCTEST_CHECK(wide.copies == 4);
  DOCTEST_CHECK(wide.exact);
  DOCTEST_CHECK(std::abs(static_cast<double>(wide.parameters) - 30e6) < 0.2e6);
  for (const Precision dtype : {Precision::bf16, Precision::f32}) {
    DOCTEST_INFO(word(dtype));
    const auto small = make(draftlab_make_block_diffusion, shipped("arithmetic"), dtype),
               large = make(draftlab_make_block_diffusion, scratch / "wide", dtype);
    DOCTEST_CHECK(large->facts().parameters == wide.parameters);
    DOCTEST_CHECK(small->facts().parameters == wide.before);
    const Blocks blocks{.size = 4};
    DOCTEST_CHECK(apart(told(*small, kPrompt, View::bidirectional, {8, 9, 10, 11}, blocks),
                        told(*large, kPrompt, View::bidirectional, {8, 9, 10, 11}, blocks)) == 0);
  }
}

DOCTEST_TEST_CASE("layers that are appended change nothing, and the origin is written down") {
  const Scratch scratch;
  const Widened wide = widened(shipped("arithmetic-mdm"), scratch / "deep", 3'000'000);
  DOCTEST_CHECK(wide.copies == 1);
  DOCTEST_CHECK(wide.layers == 4);
  const auto small =
                 make(draftlab_make_masked_diffusion, shipped("arithmetic-mdm"), Precision::bf16),
             large = make(draftlab_make_masked_diffusion, scratch / "deep", Precision::bf16);
  DOCTEST_CHECK(apart(told(*small, kPrompt, View::bidirectional, {8, 15, 23}),
                      told(*large, kPrompt, View::bidirectional, {8, 15, 23})) == 0);
  const Origin origin = read_origin(scratch / "deep");
  DOCTEST_CHECK(origin.parameters == small->facts().parameters);
  DOCTEST_CHECK(origin.digest == small->facts().digest);
  DOCTEST_CHECK(read_origin(shipped("arithmetic-mdm")).parameters == 0);
  DOCTEST_CHECK(fs::exists(scratch / "deep/spiece.model"));
}

DOCTEST_TEST_CASE("a masked-diffusion model whose rows are repeated answers to rounding") {
  const Scratch scratch;
  const Widened wide = widened(shipped("arithmetic-mdm"), scratch / "wide", 7'000'000);
  DOCTEST_CHECK(wide.copies == 2);
  DOCTEST_CHECK_FALSE(wide.exact);
  const auto small =
                 make(draftlab_make_masked_diffusion, shipped("arithmetic-mdm"), Precision::f32),
             large = make(draftlab_make_masked_diffusion, scratch / "wide", Precision::f32);
  DOCTEST_CHECK(apart(told(*small, kPrompt, View::bidirectional, {8, 15, 23}),
                      told(*large, kPrompt, View::bidirectional, {8, 15, 23})) <
                testing::rounding({.layers = 5, .width = 320, .inner = 896, .positions = 24}));
}

DOCTEST_TEST_CASE("an encoder-decoder with prediction heads answers as the original") {
  const Scratch scratch;
  for (const std::int64_t parameters : {3'000'000, 12'000'000}) {
    const std::string to = scratch / std::to_string(parameters);
    const Widened wide = widened(shipped("transduce-tuned"), to, parameters);
    DOCTEST_CAPTURE(wide.copies);
    const auto small =
                   make(draftlab_make_autoregressive, shipped("transduce-tuned"), Precision::f32),
               large = make(draftlab_make_autoregressive, to, Precision::f32);
    const double most = apart(told(*small, kPrompt, View::causal, {8, 9, 10}),
                              told(*large, kPrompt, View::causal, {8, 9, 10}));
    DOCTEST_CHECK(most <
                  testing::rounding({.layers = 6, .width = 192, .inner = 512, .positions = 24}));
    if (wide.exact) DOCTEST_CHECK(most == 0);
  }
}

DOCTEST_TEST_CASE("GPT-2 and an untied head with biases are widened, too") {
  const Scratch scratch;
  TransformerConfig config;
  config.vocab_size = 70, config.hidden_size = 32, config.num_hidden_layers = 2;
  config.num_attention_heads = config.num_key_value_heads = 2, config.head_dim = 16;
  config.intermediate_size = 64, config.max_position_embeddings = 64;
  for (const std::string family : {"gpt2", "qwen2"}) {
    DOCTEST_CAPTURE(family);
    config.model_type = family;
    config.tie_word_embeddings = config.attention_bias = family == "gpt2";
    config.num_key_value_heads = family == "gpt2" ? 2 : 1;
    Transformer net = Transformer::random(config, 3, 0.3);
    // Biases and norms of their own, so that one that is lost shows.
    float next = 0.01f;
    for (auto& [name, tensor] : net.named_parameters()) {
      if (tensor.dim() != 1) continue;
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        tensor.data_ptr<float>()[i] += next = -0.97f * next + 0.001f;
    }
    net.save(scratch / family, false);
    const Widened wide = widened(scratch / family, scratch / (family + "-wide"), 150'000);
    DOCTEST_CHECK(wide.copies == 2);
    const auto small = make(draftlab_make_autoregressive, scratch / family, Precision::f32),
               large =
                   make(draftlab_make_autoregressive, scratch / (family + "-wide"), Precision::f32);
    DOCTEST_CHECK(
        apart(told(*small, kPrompt, View::causal, {8}), told(*large, kPrompt, View::causal, {8})) <
        testing::rounding({.layers = 3, .width = 64, .inner = 128, .positions = 24}));
  }
}

DOCTEST_TEST_CASE("XLNet of twice the width and with more layers answers to rounding") {
  const Scratch scratch;
  const Widened wide = widened(shipped("stories"), scratch / "wide", 11'000'000);
  DOCTEST_CHECK(wide.copies == 2);
  DOCTEST_CHECK(wide.layers > 0);
  const std::vector<std::pair<std::int32_t, Token>> scattered = {{2, 40}, {9, 77}, {17, 300}};
  const auto small = make(draftlab_make_any_subset, shipped("stories"), Precision::f32),
             large = make(draftlab_make_any_subset, scratch / "wide", Precision::f32);
  DOCTEST_CHECK(apart(told(*small, scattered, View::causal, {0, 5, 10, 23}),
                      told(*large, scattered, View::causal, {0, 5, 10, 23})) <
                testing::rounding({.layers = 7, .width = 320, .inner = 1280, .positions = 24}));
}

DOCTEST_TEST_CASE("MAR draws from the same laws, guided or not, bidirectional or causal") {
  const Scratch scratch;
  for (const std::string name : {"mar-draft", "mar-causal"}) {
    const std::string to = scratch / name;
    const Widened wide = widened(shipped(name), to, name == "mar-draft" ? 900'000 : 6'000'000);
    DOCTEST_CAPTURE(name);
    DOCTEST_CHECK(wide.copies == 2);
    DOCTEST_CHECK(wide.layers > 0);
    std::vector<std::vector<double>> both;
    MarOptions guided;
    guided.guidance = 2;
    for (const std::string& folder : {shipped(name), to}) {
      const auto model = make(draftlab_make_mar, folder, Precision::f32, guided);
      const Canvas canvas(17, std::vector<std::pair<std::int32_t, Token>>{{0, 3}});
      const std::unique_ptr<Sequence> sequence = model->open(canvas, {});
      const Answer answer = ask(
          *model, *sequence,
          {.kind = Kind::draft, .view = model->facts().view, .nodes = {}, .asks = {{kRoot, {1}}}});
      Question reverse{.kind = Kind::aux, .view = View::causal, .nodes = {}, .asks = {}};
      for (const int step : {1, 5})
        reverse.reverse.push_back({.condition = answer.condition(kRoot, 1),
                                   .step = step,
                                   .state = Eigen::VectorXd::LinSpaced(16, -1, 1)});
      std::vector<double> laws;
      for (const Mixture& law : ask(*model, *sequence, reverse).laws) {
        laws.insert(laws.end(), law.mean[0].begin(), law.mean[0].end());
        laws.insert(laws.end(), law.sigma[0].begin(), law.sigma[0].end());
      }
      both.push_back(laws);
    }
    // The laws come from a head of three more layers.
    DOCTEST_CHECK(apart(both[0], both[1]) <
                  testing::rounding({.layers = 8, .width = 256, .inner = 1024, .positions = 17},
                                    *std::max_element(both[0].begin(), both[0].end())));
  }
}

DOCTEST_TEST_CASE("what cannot be widened is refused in a sentence") {
  const Scratch scratch;
  DOCTEST_CHECK_THROWS_WITH_AS(widened(shipped("arithmetic"), scratch / "out", 1000),
                               doctest::Contains("a checkpoint only grows"), UsageError);
  widened(shipped("mar-draft"), scratch / "out", 200'000);
  DOCTEST_CHECK_THROWS_WITH_AS(widen({shipped("mar-draft"), scratch / "out", 300'000}),
                               doctest::Contains("holds model.safetensors already"), OutputError);
  DOCTEST_CHECK_THROWS_WITH_AS(widen({scratch / "out", scratch / "more", 300'000}),
                               doctest::Contains("was widened already"), DataError);
  write_whole(scratch / "out/config.json", "{\"model_type\": \"mar\", \"widened_from\": 3}");
  DOCTEST_CHECK_THROWS_WITH_AS(read_origin(scratch / "out"), doctest::Contains("must be an object"),
                               DataError);
  DOCTEST_CHECK(parameter_count("30M", "--parameters") == 30'000'000);
  DOCTEST_CHECK(parameter_count("1.5e6", "--parameters") == 1'500'000);
  for (const char* wrong : {"", "M", "30X", "-1", "0", "5B", "nan"})
    DOCTEST_CHECK_THROWS_AS(parameter_count(wrong, "--parameters"), UsageError);
}

}  // namespace draftlab
