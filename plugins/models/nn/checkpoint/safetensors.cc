#include "plugins/models/nn/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/mapped_file.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

// The bound of the format itself.
constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr std::array<std::pair<const char*, ElementType>, 5> kTypes{
    {{"F32", ElementType::f32},
     {"F16", ElementType::f16},
     {"BF16", ElementType::bf16},
     {"I64", ElementType::i64},
     {"BOOL", ElementType::boolean}}};

const char* type_name(ElementType type) {
  for (const auto& [name, known] : kTypes)
    if (known == type) return name;
  throw Fault("safetensors: unknown element type");
}

// Returns the tensor that a header entry describes, checked against the bytes of data that are
// available.
TensorBytes described(const Json& entry, const std::string& where,
                      std::span<const std::byte> data) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets")) {
    throw DataError("{}: its header entry must have dtype, shape and data_offsets", where);
  }
  TensorBytes tensor;
  const Json& dtype = entry["dtype"];
  const auto* known = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const auto& type) { return dtype == type.first; });
  if (known == kTypes.end())
    throw DataError("{}: dtype {} is not one of F32, F16, BF16, I64, BOOL", where,
                    dtype.dump().substr(0, 40));
  tensor.type = known->second;

  const Json& shape = entry["shape"];
  std::uint64_t bytes = element_size(tensor.type);
  if (!shape.is_array() || shape.size() > 16)
    throw DataError("{}: shape must be a list of at most 16 sizes", where);
  for (const Json& size : shape) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > (1ull << 62))
      throw DataError("{}: shape must hold sizes, not {}", where, size.dump().substr(0, 40));
    tensor.shape.push_back(size.get<std::int64_t>());
    if (__builtin_mul_overflow(bytes, size.get<std::uint64_t>(), &bytes))
      throw DataError("{}: its shape needs more than 2^64 bytes", where);
  }

  const Json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    throw DataError("{}: data_offsets must be two non-negative numbers", where);
  }
  const std::uint64_t begin = offsets[0], end = offsets[1];
  if (begin > end || end > data.size()) {
    throw DataError("{}: data_offsets [{}, {}] lie outside the {} bytes of data", where, begin, end,
                    data.size());
  }
  if (end - begin != bytes) {
    throw DataError("{}: shape {} of {} needs {} bytes, data_offsets give {}", where,
                    shape_text(tensor.shape), type_name(tensor.type), bytes, end - begin);
  }
  tensor.bytes = data.subspan(begin, bytes);
  return tensor;
}

}  // namespace

std::size_t element_size(ElementType type) {
  switch (type) {
    case ElementType::f32: return 4;
    case ElementType::f16:
    case ElementType::bf16: return 2;
    case ElementType::i64: return 8;
    case ElementType::boolean: return 1;
  }
  return 0;
}

std::uint64_t byte_count(ElementType type, std::span<const std::int64_t> shape) {
  std::uint64_t bytes = element_size(type);
  for (const std::int64_t size : shape) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

SafetensorsFile::SafetensorsFile(const std::string& path)
    : path_(path),
      file_(
          map_file(path, 8, "is not a safetensors file (shorter than its 8-byte header length)")) {
  try {
    parse();
  } catch (...) {
    unmap(file_);
    throw;
  }
}

SafetensorsFile::~SafetensorsFile() { unmap(file_); }

void SafetensorsFile::parse() {
  std::uint64_t length = 0;
  std::memcpy(&length, file_.data(), sizeof length);
  if (length > file_.size() - 8 || length > kLongestHeader) {
    throw DataError("{}: says that its header has {} bytes, but the file has {}", path_, length,
                    file_.size());
  }
  const char* text = reinterpret_cast<const char*>(file_.data() + 8);
  const Json header = Json::parse(text, text + length, nullptr, false);
  if (!header.is_object()) throw DataError("{}: its header is not a JSON object", path_);
  const auto data = file_.subspan(8 + length);
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object())
        throw DataError("{}: __metadata__ must be an object of strings", path_);
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string())
          throw DataError("{}: __metadata__ '{}' must be a string", path_, key);
        metadata_[key] = value.get<std::string>();
      }
      continue;
    }
    tensors_[name] = described(entry, path_ + ": tensor '" + name + "'", data);
  }

  std::vector<std::pair<const std::byte*, const std::string*>> begins;
  for (const auto& [name, tensor] : tensors_)
    if (!tensor.bytes.empty()) begins.emplace_back(tensor.bytes.data(), &name);
  std::sort(begins.begin(), begins.end());
  const std::byte* end = data.data();
  for (const auto& [begin, name] : begins) {
    if (begin != end)
      throw DataError("{}: tensor '{}' {}", path_, *name,
                      begin < end ? "overlaps another" : "leaves a gap before it");
    end = begin + tensors_[*name].bytes.size();
  }
  if (end != data.data() + data.size())
    throw DataError("{}: holds more data than its tensors cover", path_);
}

const TensorBytes& SafetensorsFile::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw DataError("{}: has no tensor '{}'", path_, name);
  return found->second;
}

void SafetensorsFile::release(std::span<const std::byte> bytes) const { release_pages(bytes); }

std::string SafetensorsFile::digest() const {
  return digest_once(path_, [this] { return hashed(); });
}

std::string SafetensorsFile::hashed() const { return digest_of(file_); }

void write_safetensors(const std::string& path,
                       const std::vector<std::pair<std::string, TensorBytes>>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<std::span<const std::byte>(std::size_t tensor,
                                                                      std::uint64_t from)>& piece) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::vector<std::uint64_t> sizes;
  std::uint64_t size = 0;
  for (const auto& [name, tensor] : tensors) {
    sizes.push_back(byte_count(tensor.type, tensor.shape));
    if (!piece && tensor.bytes.size() != sizes.back())
      throw Fault("tensor '{}' has other bytes than its shape says", name);
    header[name] = {{"dtype", type_name(tensor.type)},
                    {"shape", tensor.shape},
                    {"data_offsets", {size, size + sizes.back()}}};
    size += sizes.back();
  }
  std::string text = header.dump();
  // The data begins at a multiple of 8.
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  text.insert(0, reinterpret_cast<const char*>(&length), sizeof length);

  bool begun = false;
  std::size_t at = 0;
  std::uint64_t from = 0;
  write_whole(path, [&]() -> std::span<const std::byte> {
    if (!std::exchange(begun, true)) return std::as_bytes(std::span(text));
    while (at < tensors.size() && from == sizes[at]) ++at, from = 0;
    if (at == tensors.size()) return {};
    const auto next = piece ? piece(at, from) : tensors[at].second.bytes;
    from += next.size();
    return next;
  });
}

}  // namespace draftlab
