// The weight files of a checkpoint as tensors. They are taken by name and shape, so that what is
// missing, misshapen or left over has a sentence of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/nn/checkpoint/safetensors.h"

namespace draftlab {

// Returns FOLDER/model.safetensors, or the files that FOLDER/model.safetensors.index.json names, in
// the order of their names; FOLDER/model.gguf where there are neither; and a file of llama2.c
// itself. Throws DataError where there are only pickles.
std::vector<std::string> weight_files(const std::string& folder);

// The digest of all these files.
std::string weights_digest(const std::string& folder);

class Weights {
 public:
  // Throws DataError when a file cannot be read, or when two files hold one tensor.
  explicit Weights(const std::vector<std::string>& files);
  bool has(const std::string& name) const { return stored_.contains(name); }
  void ignore(const std::string& name) { stored_.erase(name); }
  // Divides the tensor `name` into several, of so many of its rows each, in their order. It does
  // nothing where there is no such tensor, and throws DataError when the tensor has another number
  // of rows.
  void split(const std::string& name,
             const std::vector<std::pair<std::string, std::int64_t>>& parts);
  // Returns a copy as `type`. Without a type it returns the tensor as it is stored, in the mapped
  // file itself, to be read and not written; its pages leave memory with the last tensor that reads
  // them. Throws DataError unless the tensor is there, of that shape, and of numbers; its shape is
  // compared before anything as large as the config says is allocated.
  at::Tensor take(const std::string& name, const std::vector<std::int64_t>& shape,
                  std::optional<at::ScalarType> type);
  // Returns the integers of a tensor; none where there is no such tensor. Throws DataError where it
  // holds other numbers.
  std::vector<std::int64_t> take_integers(const std::string& name);
  // Throws DataError naming a tensor that is left.
  void expect_all_taken() const;
  const std::map<std::string, std::string>& metadata() const { return files_.front()->metadata(); }
  const std::string& path() const { return files_.front()->path(); }

 private:
  struct Place {
    std::shared_ptr<const SafetensorsFile> file;
    TensorBytes bytes;
  };
  std::vector<std::shared_ptr<const SafetensorsFile>> files_;
  std::map<std::string, Place> stored_;
};

// Writes the file, whole or not at all. `bf16` halves its size; tensors of int64 stay as they are.
void write_weights(const std::string& path,
                   const std::vector<std::pair<std::string, at::Tensor>>& named, bool bf16,
                   const std::map<std::string, std::string>& metadata);

}  // namespace draftlab
