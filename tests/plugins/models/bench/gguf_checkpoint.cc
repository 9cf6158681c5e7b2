// Writing a checkpoint as GGUF: what is read again is what was written, rounded as its type says.
#include "plugins/models/bench/gguf_checkpoint.h"

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/transformer/transformer_config.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

constexpr std::int64_t kWidth = 32, kVocabulary = 3;

// Writes a checkpoint of an embedding, which is the head, too, and of the tensor `name`.
std::string checkpoint(const std::string& name) {
  const std::string folder = testing::scratch("gguf-checkpoint");
  TransformerConfig config;
  config.model_type = "qwen3";
  config.vocab_size = kVocabulary;
  config.hidden_size = config.intermediate_size = config.head_dim = kWidth;
  config.num_hidden_layers = config.num_attention_heads = config.num_key_value_heads = 1;
  config.tie_word_embeddings = true;
  make_folder(folder);
  config.write(folder);
  std::vector<float> numbers;
  for (int i = 0; i < kVocabulary * kWidth; ++i) numbers.push_back(std::sin(static_cast<float>(i)));
  const auto bytes = std::as_bytes(std::span(numbers));
  write_safetensors(
      folder + "/model.safetensors",
      {{"model.embed_tokens.weight", {ElementType::f32, {kVocabulary, kWidth}, bytes}},
       {name, {ElementType::f32, {kWidth}, bytes.first(4 * kWidth)}}});
  return folder;
}

// Returns the largest difference of a tensor's numbers and sin(0), sin(1), ...
double difference(const GgufTensor& tensor, std::int64_t count) {
  std::vector<float> numbers(count);
  decode(tensor, numbers.data());
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::abs(numbers[i] - std::sin(static_cast<double>(i))));
  return largest;
}

}  // namespace

DOCTEST_TEST_CASE("GGUF of a checkpoint: a tied head is rounded, embedding and norms are not") {
  const std::string folder = checkpoint("model.norm.weight"), path = folder + "/model.gguf";
  for (const auto& [type, most] :
       {std::pair(GgufType::f32, 1e-7), std::pair(GgufType::bf16, 4e-3),
        std::pair(GgufType::q8_0, 5e-3), std::pair(GgufType::q4_0, 0.13)}) {
    write_gguf(folder, type, path);
    const GgufFile file(path);
    DOCTEST_CHECK(file.architecture() == "qwen3");
    const bool rounded = type == GgufType::q8_0 || type == GgufType::q4_0;
    DOCTEST_REQUIRE(file.tensors().size() == (rounded ? 3 : 2));
    const GgufTensor& embedding = file.tensors().at("token_embd.weight");
    const GgufTensor& head = rounded ? file.tensors().at("output.weight") : embedding;
    const GgufTensor& norm = file.tensors().at("output_norm.weight");
    DOCTEST_CHECK(head.type == type);
    DOCTEST_CHECK(head.shape == std::vector<std::int64_t>{kVocabulary, kWidth});
    DOCTEST_CHECK(difference(head, kVocabulary * kWidth) < most);
    DOCTEST_CHECK(difference(norm, kWidth) < 1e-7);
    if (rounded) DOCTEST_CHECK(difference(embedding, kVocabulary * kWidth) < 1e-7);
  }
}

DOCTEST_TEST_CASE("GGUF of a checkpoint: a tensor that Qwen3 has not is refused") {
  const std::string folder = checkpoint("model.layers.0.mlp.gate.weight");
  DOCTEST_CHECK_THROWS_AS(write_gguf(folder, GgufType::f32, folder + "/none.gguf"), DataError);
}

}  // namespace draftlab
