// Files of llama2.c: where their tensors stand, and what is refused.
#include "plugins/models/nn/checkpoint/llama2c.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>

#include "core/base/error.h"
#include "core/base/memory_file.h"

namespace draftlab {
namespace {

// Width 4, inner width 3, one layer, two heads that share keys and values, 5 words, 6 positions.
constexpr std::array<std::int32_t, 7> kShape = {4, 3, 1, 2, 1, 5, 6};
// The numbers of all tensors: embedding, norm, q, k, v, o, norm, w1, w2, w3, norm, rotations.
constexpr std::size_t kNumbers = 20 + 4 + 16 + 8 + 8 + 16 + 4 + 12 + 12 + 12 + 4 + 12;

// A file whose numbers are 0, 1, 2, ...
std::string file_of(const std::array<std::int32_t, 7>& shape, std::size_t numbers = kNumbers) {
  std::string bytes(28, '\0');
  std::memcpy(bytes.data(), shape.data(), 28);
  for (std::size_t i = 0; i < numbers; ++i) {
    const auto number = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&number), 4);
  }
  return bytes;
}

float first_number(const Llama2cTensor& tensor) {
  float number;
  std::memcpy(&number, tensor.bytes.data(), 4);
  return number;
}

std::string complaint(const std::string& bytes) {
  const MemoryFile stored(bytes);
  try {
    const Llama2cFile file(stored.path());
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing";
}

bool has_words(const std::string& message, const std::string& part) {
  INFO(message);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a file of llama2.c: tensors stand one after another") {
  const MemoryFile stored(file_of(kShape));
  const Llama2cFile file(stored.path());
  CHECK(file.shape().groups == 1);
  CHECK(file.shape().tied);
  CHECK(file.tensors().size() == 11);
  const auto expect = [&](const std::string& name, const std::vector<std::int64_t>& shape,
                          float first) {
    INFO(name);
    const Llama2cTensor& tensor = file.tensors().at(name);
    CHECK(tensor.shape == shape);
    CHECK(first_number(tensor) == first);
  };
  expect("model.embed_tokens.weight", {5, 4}, 0);
  expect("model.layers.0.input_layernorm.weight", {4}, 20);
  expect("model.layers.0.self_attn.q_proj.weight", {4, 4}, 24);
  expect("model.layers.0.self_attn.k_proj.weight", {2, 4}, 40);
  expect("model.layers.0.self_attn.v_proj.weight", {2, 4}, 48);
  expect("model.layers.0.self_attn.o_proj.weight", {4, 4}, 56);
  expect("model.layers.0.post_attention_layernorm.weight", {4}, 72);
  expect("model.layers.0.mlp.gate_proj.weight", {3, 4}, 76);
  expect("model.layers.0.mlp.down_proj.weight", {4, 3}, 88);
  expect("model.layers.0.mlp.up_proj.weight", {3, 4}, 100);
  expect("model.norm.weight", {4}, 112);
}

TEST_CASE("a file of llama2.c whose vocabulary is negative has a head of its own") {
  auto shape = kShape;
  shape[5] = -5;
  CHECK(has_words(complaint(file_of(shape)),
                  "has 540 bytes, fewer than the shape in its header wants"));
  const MemoryFile stored(file_of(shape, kNumbers + 20));
  const Llama2cFile file(stored.path());
  CHECK(!file.shape().tied);
  CHECK(first_number(file.tensors().at("lm_head.weight")) == 128);
}

TEST_CASE("what is no file of llama2.c is refused in one sentence") {
  CHECK(has_words(complaint("short"), "shorter than its header"));
  CHECK(has_words(complaint(file_of(kShape, kNumbers - 1)), "has 536 bytes, fewer than"));
  CHECK(has_words(complaint(file_of(kShape, kNumbers + 1)), "has 544 bytes, more than"));
  CHECK(has_words(complaint("PK\3\4" + file_of(kShape)), "a Python pickle"));
  for (std::size_t i = 0; i < 7; ++i) {
    auto shape = kShape;
    shape[i] = 0;
    CHECK(has_words(complaint(file_of(shape)),
                    "is not a file of llama2.c: its header says 0 for its"));
    shape[i] = 1 << 30;
    CHECK(has_words(complaint(file_of(shape)), "its header says 1073741824 for its"));
  }
  auto heads = kShape;
  heads[3] = 4;
  CHECK(has_words(complaint(file_of(heads)), "a head has an even width"));
  heads[3] = 2;
  heads[4] = 2;
  heads[3] = 1;
  CHECK(has_words(complaint(file_of(heads)), "a group equally many heads"));
  auto later = kShape;
  later[0] = 0x616b3432;
  later[1] = 2;
  CHECK(has_words(complaint(file_of(later)),
                  "is of version 2 of llama2.c's files; version 0 is read"));
}

}  // namespace draftlab
