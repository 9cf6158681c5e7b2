#include "plugins/models/bench/gguf_checkpoint.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/kernels/rows/lanes.h"
#include "plugins/models/nn/kernels/rows/quantised_blocks.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {
namespace {

template <class Number>
std::string raw(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string text(const std::string& words) {
  return raw(static_cast<std::uint64_t>(words.size())) + words;
}

// The format's numbers for kinds of values.
constexpr std::uint32_t kU32 = 4, kF32 = 6, kText = 8;

// The keys of a file, one after another.
class Keys {
 public:
  void add(const std::string& key, const std::string& value) { put(key, kText, text(value)); }
  void add(const std::string& key, double value) { put(key, kF32, raw(static_cast<float>(value))); }
  void add(const std::string& key, std::int64_t value) {
    put(key, kU32, raw(static_cast<std::uint32_t>(value)));
  }
  std::uint64_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void put(const std::string& key, std::uint32_t kind, const std::string& value) {
    bytes_ += text(key) + raw(kind) + value;
    ++count_;
  }
  std::uint64_t count_ = 0;
  std::string bytes_;
};

std::string architecture_of(const TransformerConfig& config) {
  return config.model_type == "mistral" ? "llama" : config.model_type;
}

Keys keys_of(const TransformerConfig& config) {
  const std::string architecture = architecture_of(config), own = architecture + ".";
  Keys keys;
  keys.add("general.architecture", architecture);
  keys.add(own + "vocab_size", config.vocab_size);
  keys.add(own + "context_length", config.max_position_embeddings);
  keys.add(own + "embedding_length", config.hidden_size);
  keys.add(own + "block_count", config.num_hidden_layers);
  keys.add(own + "feed_forward_length", config.intermediate_size);
  keys.add(own + "attention.head_count", config.num_attention_heads);
  keys.add(own + "attention.head_count_kv", config.num_key_value_heads);
  keys.add(own + "attention.key_length", config.head_dim);
  keys.add(own + "attention.value_length", config.head_dim);
  keys.add(own + "attention.layer_norm_rms_epsilon", config.rms_norm_eps);
  keys.add(own + "rope.dimension_count", config.head_dim);
  keys.add(own + "rope.freq_base", config.rope.theta);
  keys.add("tokenizer.ggml.model", "none");
  return keys;
}

// The format's number of a type, and the bytes of so many numbers.
struct Format {
  std::uint32_t number;
  std::int64_t bytes, numbers;
};
Format format_of(GgufType type) {
  switch (type) {
    case GgufType::f32: return {0, 4, 1};
    case GgufType::bf16: return {30, 2, 1};
    case GgufType::q8_0: return {8, 34, kQuantisedBlock};
    case GgufType::q4_0: return {2, 18, kQuantisedBlock};
    case GgufType::f16: break;
  }
  throw Fault("benchmarks write no f16");
}

// Writes 32 numbers as they stand in a file.
void write_block(GgufType type, const float* from, char* to) {
  const QuantisedBlock block = type == GgufType::q8_0 ? eight_bits(from) : four_bits(from);
  std::memcpy(to, &block.scale, 2);
  for (int i = 0; i < (type == GgufType::q8_0 ? 32 : 16); ++i)
    to[2 + i] = static_cast<char>(type == GgufType::q8_0
                                      ? block.numbers[i]
                                      : (block.numbers[i] + 8) | (block.numbers[i + 16] + 8) << 4);
}

std::vector<float> numbers_of(const TensorBytes& tensor) {
  std::vector<float> numbers(tensor.bytes.size() / 4);
  std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return numbers;
}

// Returns the rows as a file of a Llama has them: in each head a row of the first half, then the
// one of the second half that turns with it.
std::vector<float> in_pairs(const std::vector<float>& rows, std::int64_t columns,
                            std::int64_t head) {
  std::vector<float> paired(rows.size());
  const auto many = static_cast<std::int64_t>(rows.size()) / columns;
  for (std::int64_t row = 0; row < many; ++row) {
    const std::int64_t at = row % head, half = head / 2,
                       to = row - at + (at < half ? 2 * at : 2 * (at - half) + 1);
    std::copy_n(rows.begin() + row * columns, columns, paired.begin() + to * columns);
  }
  return paired;
}

std::string encoded(const std::vector<float>& numbers, GgufType type) {
  const Format format = format_of(type);
  std::string bytes(numbers.size() / format.numbers * format.bytes, '\0');
  for (std::size_t i = 0; i < numbers.size() / format.numbers; ++i) {
    const float* const from = numbers.data() + i * format.numbers;
    char* const to = bytes.data() + i * format.bytes;
    if (format.numbers > 1) {
      write_block(type, from, to);
    } else if (type == GgufType::bf16) {
      std::uint16_t half;
      narrow(*from, half);
      std::memcpy(to, &half, 2);
    } else {
      std::memcpy(to, from, 4);
    }
  }
  return bytes;
}

constexpr std::uint64_t kAlignment = 32;
std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void write_gguf(const std::string& folder, GgufType type, const std::string& path) {
  const TransformerConfig config = TransformerConfig::read(folder);
  if (config.rope.scaling.kind != RopeKind::none)
    throw DataError("{}/config.json: a GGUF file is written without a scaling of rotary positions",
                    folder);
  const Keys keys = keys_of(config);
  const SafetensorsFile file(folder + "/model.safetensors");
  std::string infos;
  struct Written {
    const TensorBytes* tensor;
    GgufType type;
    bool paired;
  };
  std::vector<Written> tensors;
  std::uint64_t offset = 0;
  const auto add = [&](const std::string& name, const TensorBytes& tensor, GgufType own) {
    const Format format = format_of(own);
    infos += text(name) + raw(static_cast<std::uint32_t>(tensor.shape.size()));
    for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size)
      infos += raw(static_cast<std::uint64_t>(*size));
    infos += raw(format.number) + raw(offset);
    offset = aligned(offset + tensor.bytes.size() / 4 / format.numbers * format.bytes);
    const bool turns = name.ends_with("attn_q.weight") || name.ends_with("attn_k.weight");
    tensors.push_back({&tensor, own, turns && config.llama()});
  };
  for (const auto& [name, tensor] : file.tensors()) {
    const std::string gguf = gguf_name_of_tensor(name);
    if (gguf.empty() || tensor.type != ElementType::f32)
      throw DataError("{}: tensor '{}' is none of a Qwen3 or Llama in f32", file.path(), name);
    const bool rounded = format_of(type).numbers > 1, embedding = gguf == "token_embd.weight";
    // As run.dtype has it: a tied head is rounded, and the embedding beside it is not.
    add(gguf, tensor, tensor.shape.size() == 1 || (embedding && rounded) ? GgufType::f32 : type);
    if (embedding && rounded && config.tie_word_embeddings) add("output.weight", tensor, type);
  }
  std::string piece = "GGUF" + raw(std::uint32_t{3}) +
                      raw(static_cast<std::uint64_t>(tensors.size())) + raw(keys.count()) +
                      keys.bytes() + infos;
  std::size_t next = 0;
  write_whole(path, [&]() -> std::span<const std::byte> {
    if (next > tensors.size()) return {};
    if (next > 0) {
      const Written& written = tensors[next - 1];
      std::vector<float> numbers = numbers_of(*written.tensor);
      if (written.paired) numbers = in_pairs(numbers, written.tensor->shape[1], config.head_dim);
      piece = encoded(numbers, written.type);
    }
    piece.resize(aligned(piece.size()));
    ++next;
    return std::as_bytes(std::span(piece));
  });
}

}  // namespace draftlab
