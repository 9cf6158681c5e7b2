// Reads GGUF, the format of llama.cpp: its tensors of f32, f16 and bf16, and those that were
// rounded to Q8_0 and Q4_0 (plugins/models/nn/kernels/rows/quantised_blocks.h). Checkpoints whose
// config.json stands beside model.gguf load it in the place of model.safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace draftlab {

enum class GgufType : std::uint8_t { f32, f16, q4_0, q8_0, bf16 };

struct GgufTensor {
  GgufType type = GgufType::f32;
  // As safetensors have it: the inputs of a product stand last.
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

// A mapped file whose header was checked before anything is read through it: every tensor lies
// inside the file, has as many bytes as its shape says, and overlaps no other. Anything else is a
// DataError.
class GgufFile {
 public:
  explicit GgufFile(const std::string& path);
  ~GgufFile();
  GgufFile(const GgufFile&) = delete;
  GgufFile& operator=(const GgufFile&) = delete;

  const std::string& path() const { return path_; }
  // What `general.architecture` says.
  const std::string& architecture() const { return architecture_; }
  const std::map<std::string, GgufTensor>& tensors() const { return tensors_; }
  // The digest of all bytes, 16 hex digits.
  std::string digest() const;

 private:
  void parse();
  void check_overlaps() const;
  std::string path_, architecture_;
  std::span<const std::byte> file_;
  std::map<std::string, GgufTensor> tensors_;
};

// Says whether a file's name ends so.
bool is_gguf(const std::string& path);

// The tensor in which GGUF keeps what config.json says of a Llama's rope_scaling: the divisors of
// the frequencies. Hugging Face's checkpoints have no such tensor.
inline constexpr const char* kRopeDivisors = "rope_divisors";

// Returns the name in Hugging Face's checkpoints of the tensor that GGUF calls `name`, and an empty
// text where a transformer of Qwen's or Llama's kind has no such tensor.
std::string name_of_gguf_tensor(const std::string& name);
// Returns the name in GGUF of the tensor that Hugging Face's checkpoints call `name`, or an empty
// text.
std::string gguf_name_of_tensor(const std::string& name);

// Writes the tensor's numbers, as many as its shape says.
void decode(const GgufTensor& tensor, float* to);

}  // namespace draftlab
