// The weight files of a checkpoint as tensors: taken by name and shape, so that what is missing,
// misshapen or left over has a sentence of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/checkpoint/safetensors.h"

namespace draftlab {

// FOLDER/model.safetensors, or the files that FOLDER/model.safetensors.index.json names, in the
// order of their names. DataError where there are only pickles.
std::vector<std::string> weight_files(const std::string& folder);

std::string weights_digest(const std::string& folder);  // of all of them

class Weights {
 public:
  explicit Weights(const std::vector<std::string>&
                       files);  // DataError when one cannot be read, or two hold one tensor
  bool has(const std::string& name) const { return stored_.contains(name); }
  void ignore(const std::string& name) { stored_.erase(name); }
  // The tensor `name` is from now on several, of so many of its rows each, in their order; nothing
  // where there is none. DataError when it has other rows.
  void split(const std::string& name,
             const std::vector<std::pair<std::string, std::int64_t>>& parts);
  // A copy as `type`; without one as it is stored, in the mapped file itself, to be read and not
  // written, whose pages leave memory with the last tensor that reads them. DataError unless the
  // tensor is there, of that shape, and of numbers; its shape is compared before anything as large
  // as the config says is allocated.
  at::Tensor take(const std::string& name, const std::vector<std::int64_t>& shape,
                  std::optional<at::ScalarType> type);
  void expect_all_taken() const;  // DataError names one that is left
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

// The file, whole or not at all; `bf16`: halves its size.
void write_weights(const std::string& path,
                   const std::vector<std::pair<std::string, at::Tensor>>& named, bool bf16,
                   const std::map<std::string, std::string>& metadata);

}  // namespace draftlab
