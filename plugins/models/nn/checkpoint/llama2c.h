// Reads the files of llama2.c (Karpathy): the seven numbers of a Llama's shape, then its weights in
// f32, tensor after tensor. Its tokenizer is a file of its own
// (plugins/tokenizers/llama2c_tokenizer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace draftlab {

struct Llama2cShape {
  std::int64_t width = 0, inner = 0, layers = 0, heads = 0, groups = 0, vocabulary = 0,
               positions = 0;
  // Whether the embedding is the head, too.
  bool tied = true;
};

struct Llama2cTensor {
  std::vector<std::int64_t> shape;
  // Numbers in f32.
  std::span<const std::byte> bytes;
};

// A mapped file that has exactly as many bytes as its shape says; anything else is a DataError.
class Llama2cFile {
 public:
  explicit Llama2cFile(const std::string& path);
  ~Llama2cFile();
  Llama2cFile(const Llama2cFile&) = delete;
  Llama2cFile& operator=(const Llama2cFile&) = delete;

  const std::string& path() const { return path_; }
  const Llama2cShape& shape() const { return shape_; }
  // The tensors by the names of Hugging Face's checkpoints. Rows of queries and keys stand as in
  // the file: those that a rotation turns into one another are neighbours.
  const std::map<std::string, Llama2cTensor>& tensors() const { return tensors_; }
  // The digest of all bytes, 16 hex digits.
  std::string digest() const;

 private:
  void read_shape();
  void place_tensors();
  std::string path_;
  std::span<const std::byte> file_;
  Llama2cShape shape_;
  std::map<std::string, Llama2cTensor> tensors_;
};

// Says whether a checkpoint is such a file and not a folder: a regular file whose name ends in
// .bin.
bool is_llama2c(const std::string& checkpoint);

}  // namespace draftlab
