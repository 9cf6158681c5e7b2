#include "plugins/models/nn/checkpoint/weights_torch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/gguf.h"
#include "plugins/models/nn/checkpoint/llama2c.h"

namespace draftlab {
namespace {

at::ScalarType scalar_type(const TensorBytes& stored, const std::string& where) {
  switch (stored.type) {
    case ElementType::f32: return at::kFloat;
    case ElementType::f16: return at::kHalf;
    case ElementType::bf16: return at::kBFloat16;
    case ElementType::i64:
    case ElementType::boolean: break;
  }
  throw DataError("{} holds integers, not weights", where);
}

void refuse_pickles(const std::string& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".bin" && extension != ".pt" && extension != ".pth" && extension != ".ckpt")
      continue;
    throw DataError(
        "{}: is a Python pickle, which runs code when it is read, so only safetensors are read; "
        "convert it with python3 -c \"import torch, safetensors.torch as s; s.save_file({{k: "
        "v.clone() for k, v in torch.load('{}', weights_only=True).items()}}, "
        "'model.safetensors')\" in its folder",
        entry.path().string(), entry.path().filename().string());
  }
}

// Makes a tensor of the bytes of a mapped file, which lives as long as the tensor. An alignment
// that the type does not allow costs a copy.
at::Tensor in_place(const std::shared_ptr<const SafetensorsFile>& file, const TensorBytes& stored,
                    at::ScalarType type) {
  const auto address = reinterpret_cast<std::uintptr_t>(stored.bytes.data());
  if (address % element_size(stored.type) == 0) {
    return at::from_blob(
        const_cast<std::byte*>(stored.bytes.data()), stored.shape,
        [file, bytes = stored.bytes](void*) { file->release(bytes); }, at::TensorOptions(type));
  }
  const at::Tensor copy = at::empty(stored.shape, at::TensorOptions(type));
  std::memcpy(copy.data_ptr(), stored.bytes.data(), stored.bytes.size());
  file->release(stored.bytes);
  return copy;
}

}  // namespace

std::vector<std::string> weight_files(const std::string& folder) {
  if (is_llama2c(folder)) return {folder};
  const std::string index = folder + "/model.safetensors.index.json";
  std::ifstream file;
  if (std::filesystem::is_regular_file(index)) file.open(index);  // A pipe is not waited for.
  if (!file.is_open()) {
    if (!std::filesystem::exists(folder + "/model.safetensors")) {
      if (std::filesystem::exists(folder + "/model.gguf")) return {folder + "/model.gguf"};
      refuse_pickles(folder);
    }
    return {folder + "/model.safetensors"};
  }
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    throw DataError("{}: has no object 'weight_map'", index);
  std::set<std::string> names;
  for (const auto& [name, stored_in] : json["weight_map"].items()) {
    if (!stored_in.is_string())
      throw DataError("{}: tensor '{}' lies in {}, which is no file name", index, name,
                      stored_in.dump().substr(0, 60));
    const std::string from = stored_in.get<std::string>();
    if (from.find('/') != std::string::npos)
      throw DataError("{}: tensor '{}' lies in '{}', which is no file of this folder", index, name,
                      from);
    names.insert(folder + "/" + from);
  }
  if (names.empty()) throw DataError("{}: its 'weight_map' names no file", index);
  return {names.begin(), names.end()};
}

std::string weights_digest(const std::string& folder) {
  std::string digest;
  for (const std::string& file : weight_files(folder))
    digest += (digest.empty() ? "" : "+") + (is_gguf(file)      ? GgufFile(file).digest()
                                             : is_llama2c(file) ? Llama2cFile(file).digest()
                                                                : SafetensorsFile(file).digest());
  return digest;
}

Weights::Weights(const std::vector<std::string>& files) {
  for (const std::string& path : files) {
    if (is_gguf(path))
      throw DataError("{}: weights of this family are read from safetensors alone", path);
    files_.push_back(std::make_shared<const SafetensorsFile>(path));
    for (const auto& [name, bytes] : files_.back()->tensors()) {
      if (!stored_.emplace(name, Place{files_.back(), bytes}).second)
        throw DataError("{}: holds tensor '{}', which another file holds, too", path, name);
    }
  }
}

void Weights::split(const std::string& name,
                    const std::vector<std::pair<std::string, std::int64_t>>& parts) {
  const auto found = stored_.find(name);
  if (found == stored_.end()) return;
  const Place whole = found->second;
  std::int64_t rows = 0, from = 0;
  for (const auto& [part, count] : parts) rows += count;
  const std::vector<std::int64_t>& shape = whole.bytes.shape;
  if (shape.empty() || shape[0] != rows) {
    throw DataError("{}: tensor '{}' has shape {}, config.json wants {} rows", whole.file->path(),
                    name, shape_text(shape), rows);
  }
  stored_.erase(found);
  const std::size_t each = whole.bytes.bytes.size() / rows;
  for (const auto& [part, count] : parts) {
    TensorBytes bytes{whole.bytes.type, shape,
                      whole.bytes.bytes.subspan(from * each, count * each)};
    bytes.shape[0] = count;
    stored_[part] = {whole.file, std::move(bytes)};
    from += count;
  }
}

at::Tensor Weights::take(const std::string& name, const std::vector<std::int64_t>& shape,
                         std::optional<at::ScalarType> type) {
  const auto found = stored_.find(name);
  if (found == stored_.end())
    throw DataError("{}: has no tensor '{}', config.json wants one of shape {}", path(), name,
                    shape_text(shape));
  const TensorBytes& bytes = found->second.bytes;
  const std::string where = found->second.file->path() + ": tensor '" + name + "'";
  if (bytes.shape != shape)
    throw DataError("{} has shape {}, config.json wants {}", where, shape_text(bytes.shape),
                    shape_text(shape));
  const at::Tensor raw = in_place(found->second.file, bytes, scalar_type(bytes, where));
  stored_.erase(found);
  return type ? raw.to(*type, /*non_blocking=*/false, /*copy=*/true) : raw;
}

std::vector<std::int64_t> Weights::take_integers(const std::string& name) {
  const auto found = stored_.find(name);
  if (found == stored_.end()) return {};
  const Place& place = found->second;
  if (place.bytes.type != ElementType::i64)
    throw DataError("{}: tensor '{}' must hold integers (I64)", place.file->path(), name);
  std::vector<std::int64_t> numbers(place.bytes.bytes.size() / sizeof(std::int64_t));
  std::memcpy(numbers.data(), place.bytes.bytes.data(), place.bytes.bytes.size());
  stored_.erase(found);
  return numbers;
}

void Weights::expect_all_taken() const {
  if (stored_.empty()) return;
  const auto& [name, place] = *stored_.begin();
  throw DataError(
      "{}: holds a tensor '{}' of shape {} that a network of its config.json does not have",
      place.file->path(), name, shape_text(place.bytes.shape));
}

void write_weights(const std::string& path,
                   const std::vector<std::pair<std::string, at::Tensor>>& named, bool bf16,
                   const std::map<std::string, std::string>& metadata) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> kept;
  std::vector<std::pair<std::string, TensorBytes>> tensors;
  for (const auto& [name, tensor] : named) {
    const bool whole = tensor.scalar_type() == at::kLong;
    kept.push_back(tensor.detach()
                       .to(whole  ? at::kLong
                           : bf16 ? at::kBFloat16
                                  : at::kFloat)
                       .contiguous());
    const at::Tensor& stored = kept.back();
    const auto bytes = std::span(static_cast<const std::byte*>(stored.data_ptr()), stored.nbytes());
    const ElementType type = whole ? ElementType::i64 : bf16 ? ElementType::bf16 : ElementType::f32;
    tensors.push_back({name, {type, stored.sizes().vec(), bytes}});
  }
  write_safetensors(path, tensors, metadata);
}

}  // namespace draftlab
