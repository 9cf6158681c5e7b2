// Hostile and damaged files: one sentence each, never a crash or a huge allocation.
#include "plugins/models/nn/checkpoint/safetensors.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"

using namespace draftlab;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path =
      fs::temp_directory_path() / ("draftlab-safetensors-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

std::string with_header(const std::string& header, std::size_t data, std::uint64_t length) {
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + std::string(data, 'x');
}
std::string with_header(const std::string& header, std::size_t data) {
  return with_header(header, data, header.size());
}

// What the reader says about a file of these bytes.
std::string safetensors_complaint(const std::string& bytes) {
  const Folder folder;
  std::ofstream(folder.file("a.safetensors"), std::ios::binary) << bytes;
  try {
    const SafetensorsFile file(folder.file("a.safetensors"));
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& bytes, const std::string& words) {
  const std::string complained = safetensors_complaint(bytes);
  INFO(complained);
  return complained.find(words) != std::string::npos && complained.find('\n') == std::string::npos;
}

}  // namespace

TEST_CASE("what is written is read back") {
  const Folder folder;
  const std::vector<float> floats{1, -2.5f, 3};
  const std::vector<std::int64_t> integers{7, -1};
  write_safetensors(folder.file("a.safetensors"),
                    {{"b", {ElementType::f32, {3, 1}, std::as_bytes(std::span(floats))}},
                     {"a", {ElementType::i64, {2}, std::as_bytes(std::span(integers))}}},
                    {{"format", "pt"}});
  const SafetensorsFile file(folder.file("a.safetensors"));
  CHECK(file.tensors().size() == 2);
  CHECK(file.metadata().at("format") == "pt");
  const TensorBytes& b = file.at("b");
  CHECK(b.shape == std::vector<std::int64_t>{3, 1});
  CHECK(b.type == ElementType::f32);
  CHECK(std::memcmp(b.bytes.data(), floats.data(), 12) == 0);
  CHECK(std::memcmp(file.at("a").bytes.data(), integers.data(), 16) == 0);
  CHECK_THROWS_AS(file.at("c"), DataError);
  CHECK(fs::directory_iterator(folder.path) != fs::directory_iterator());
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) ==
        1);  // There is no leftover.

  const std::string digest = file.digest();
  CHECK(digest.size() == 16);
  const std::vector<float> other{1, -2.5f, 3.0000002f};
  write_safetensors(folder.file("b.safetensors"),
                    {{"b", {ElementType::f32, {3, 1}, std::as_bytes(std::span(other))}},
                     {"a", {ElementType::i64, {2}, std::as_bytes(std::span(integers))}}},
                    {{"format", "pt"}});
  CHECK(SafetensorsFile(folder.file("b.safetensors")).digest() != digest);
}

TEST_CASE("headers that lie") {
  CHECK(safetensors_complaint(
            with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8))
            .empty());  // The other bytes are this text, damaged.
  CHECK(says("", "not a safetensors file"));
  CHECK(says("1234567", "not a safetensors file"));
  CHECK(says(with_header("{}", 0, ~0ull), "18446744073709551615"));
  CHECK(says(with_header("{}", 0, 3), "header has 3 bytes"));
  CHECK(says(with_header("{\"a\":", 8), "not a JSON object"));
  CHECK(says(with_header("[1]", 0), "not a JSON object"));
  CHECK(says(with_header(std::string(100000, '['), 0), "not a JSON object"));
  CHECK(says(with_header(R"({"a":7})", 0), "dtype, shape and data_offsets"));
  CHECK(says(with_header(R"({"a":{"dtype":"F8","shape":[2],"data_offsets":[0,8]}})", 8),
             "dtype \"F8\""));
  CHECK(says(with_header(R"({"a":{"dtype":4,"shape":[2],"data_offsets":[0,8]}})", 8), "dtype 4"));
  CHECK(says(with_header(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8),
             "shape must hold sizes"));
  CHECK(says(with_header(R"({"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})", 8),
             "shape must hold sizes"));
  CHECK(
      says(with_header(
               R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", 8),
           "2^64"));
  CHECK(says(
      with_header(
          R"({"a":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}})", 8),
      "outside the 8 bytes"));
  CHECK(says(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", 8),
             "outside the 8 bytes"));
  CHECK(
      says(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8), "outside"));
  CHECK(says(with_header(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
             "needs 12 bytes"));
  CHECK(says(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8),
             "two non-negative numbers"));
  CHECK(says(
      with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32",)"
                  R"("shape":[2],"data_offsets":[4,12]}})",
                  12),
      "overlaps"));
  CHECK(says(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12), "gap"));
  CHECK(says(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 12),
             "more data"));
  CHECK(says(with_header(R"({"__metadata__":{"a":1}})", 0), "must be a string"));
}

TEST_CASE("a file that is not there") {
  CHECK_THROWS_AS(SafetensorsFile("/nowhere/model.safetensors"), DataError);
}

TEST_CASE("a folder that cannot be written") {
  CHECK_THROWS_AS(write_safetensors("/nowhere/model.safetensors", {}), OutputError);
}

TEST_CASE("the digest is of all bytes, those behind the first 64 megabytes too") {
  const Folder folder;
  const std::string path = folder.file("large.safetensors");
  constexpr std::size_t kBytes = 72u << 20;
  {
    const std::string header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[" +
                               std::to_string(kBytes / 4) + "],\"data_offsets\":[0," +
                               std::to_string(kBytes) + "]}}";
    std::ofstream(path, std::ios::binary) << with_header(header, 0);
    // The file is sparse and takes no room on the disk.
    fs::resize_file(path, fs::file_size(path) + kBytes);
  }
  const std::string before = SafetensorsFile(path).digest();
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-1000, std::ios::end);
  file.put('x');
  file.close();
  CHECK(SafetensorsFile(path).digest() != before);
}
