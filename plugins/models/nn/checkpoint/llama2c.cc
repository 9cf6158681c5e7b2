#include "plugins/models/nn/checkpoint/llama2c.h"

#include <array>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/mapped_file.h"

namespace draftlab {
namespace {

constexpr std::size_t kHeader = 28;
constexpr std::int64_t kMost = 1 << 20;
// Files of later versions begin with this number, the letters ak42.
constexpr std::int32_t kLater = 0x616b3432;

}  // namespace

Llama2cFile::Llama2cFile(const std::string& path)
    : path_(path),
      file_(map_file(path, kHeader, "is not a file of llama2.c (shorter than its header)")) {
  try {
    read_shape();
    place_tensors();
  } catch (...) {
    unmap(file_);
    throw;
  }
}

Llama2cFile::~Llama2cFile() { unmap(file_); }

std::string Llama2cFile::digest() const {
  return digest_once(path_, [this] { return digest_of(file_); });
}

void Llama2cFile::read_shape() {
  std::array<std::int32_t, 7> numbers;
  std::memcpy(numbers.data(), file_.data(), kHeader);
  if (numbers[0] == kLater)
    throw DataError("{}: is of version {} of llama2.c's files; version 0 is read", path_,
                    numbers[1]);
  // An untied head is said by a negative vocabulary.
  shape_.tied = numbers[5] > 0;
  constexpr std::array<const char*, 7> kNames = {
      "width", "inner width", "layers", "heads", "heads of keys and values", "words", "positions"};
  const std::array<std::int64_t*, 7> to = {&shape_.width,    &shape_.inner,  &shape_.layers,
                                           &shape_.heads,    &shape_.groups, &shape_.vocabulary,
                                           &shape_.positions};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    *to[i] = i == 5 && !shape_.tied ? -static_cast<std::int64_t>(numbers[i]) : numbers[i];
    if (*to[i] < 1 || *to[i] > kMost)
      throw DataError(
          "{}: is not a file of llama2.c: its header says {} for its {}; a Python pickle (.bin of "
          "Hugging Face) is not read, safetensors are",
          path_, numbers[i], kNames[i]);
  }
  if (shape_.layers > 1024 || shape_.width % (2 * shape_.heads) || shape_.heads % shape_.groups)
    throw DataError(
        "{}: is not a file of llama2.c: its header says {} layers, and {} heads of {} numbers, of "
        "which {} share keys and values; a head has an even width, and a group equally many heads",
        path_, shape_.layers, shape_.heads, shape_.width, shape_.groups);
}

void Llama2cFile::place_tensors() {
  using Shape = std::vector<std::int64_t>;
  const std::int64_t d = shape_.width, inner = shape_.inner, layers = shape_.layers,
                     head = d / shape_.heads, shared = shape_.groups * head,
                     vocabulary = shape_.vocabulary;
  std::size_t at = kHeader;
  bool fits = true;
  // The sizes are at most 2^20 and there are at most 2^10 layers, so that nothing overflows.
  const auto take = [&](const std::string& name, const Shape& shape) {
    std::size_t bytes = 4;
    for (const std::int64_t size : shape) bytes *= static_cast<std::size_t>(size);
    fits = fits && bytes <= file_.size() - at;
    if (!fits) return;
    if (!name.empty()) tensors_[name] = {shape, file_.subspan(at, bytes)};
    at += bytes;
  };
  const auto take_layers = [&](const std::string& name, const Shape& shape) {
    for (std::int64_t i = 0; i < layers && fits; ++i)
      take("model.layers." + std::to_string(i) + "." + name + ".weight", shape);
  };
  take("model.embed_tokens.weight", {vocabulary, d});
  take_layers("input_layernorm", {d});
  take_layers("self_attn.q_proj", {d, d});
  take_layers("self_attn.k_proj", {shared, d});
  take_layers("self_attn.v_proj", {shared, d});
  take_layers("self_attn.o_proj", {d, d});
  take_layers("post_attention_layernorm", {d});
  take_layers("mlp.gate_proj", {inner, d});
  take_layers("mlp.down_proj", {d, inner});
  take_layers("mlp.up_proj", {inner, d});
  take("model.norm.weight", {d});
  // Cosines and sines of the positions, which the program computes itself.
  for (int part = 0; part < 2; ++part) take("", {shape_.positions, head / 2});
  if (!shape_.tied) take("lm_head.weight", {vocabulary, d});
  if (!fits || at != file_.size())
    throw DataError("{}: has {} bytes, {} than the shape in its header wants", path_, file_.size(),
                    fits ? "more" : "fewer");
}

bool is_llama2c(const std::string& checkpoint) {
  std::error_code none;
  return checkpoint.ends_with(".bin") && std::filesystem::is_regular_file(checkpoint, none);
}

}  // namespace draftlab
