// Reads and writes the safetensors format: a u64 header length, a JSON header, and raw
// little-endian tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

enum class ElementType { f32, f16, bf16, i64, boolean };
std::size_t element_size(ElementType type);
std::uint64_t byte_count(ElementType type, std::span<const std::int64_t> shape);

// The bytes of a tensor, owned by someone else (the mapped file, or what is about to be written).
// They are not necessarily aligned.
struct TensorBytes {
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};
// Writes a shape such as "[768, 12, 64]".
std::string shape_text(std::span<const std::int64_t> shape);

// A mapped file whose header was checked before anything is read through it: every tensor lies
// inside the file, has as many bytes as its shape says, and together they cover the data without
// gap or overlap. Anything else is a DataError.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& path() const { return path_; }
  const std::map<std::string, TensorBytes>& tensors() const { return tensors_; }
  // Throws DataError when there is no such tensor.
  const TensorBytes& at(const std::string& name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // The digest of all bytes, 16 hex digits.
  std::string digest() const;
  // Removes the pages that hold nothing but these bytes from this process's memory until they are
  // read again.
  void release(std::span<const std::byte> bytes) const;

 private:
  void parse();
  std::string hashed() const;
  std::string path_;
  std::span<const std::byte> file_;
  std::map<std::string, TensorBytes> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Writes a file, whole or not at all (core/base/files.h); throws OutputError when it cannot. With
// `piece`, tensors have no bytes of their own: piece(i, from) gives some of those of tensor i from
// byte `from` on, valid until the next call.
void write_safetensors(
    const std::string& path, const std::vector<std::pair<std::string, TensorBytes>>& tensors,
    const std::map<std::string, std::string>& metadata = {},
    const std::function<std::span<const std::byte>(std::size_t tensor, std::uint64_t from)>& piece =
        {});

}  // namespace draftlab
