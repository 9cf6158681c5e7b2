#include "plugins/models/rwkv/rwkv_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/mapped_file.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/kernels/rows/lanes.h"
#include "plugins/models/nn/kernels/rows/quantised_blocks.h"

namespace draftlab {
namespace {

constexpr std::int32_t kMagic = 0x67676d66, kVersion = 101;
constexpr std::size_t kHeader = 24;
constexpr std::int32_t kMostDimensions = 4, kLongestName = 256;

// A file that is mapped as long as this lives.
struct Mapped {
  explicit Mapped(const std::string& path)
      : bytes(map_file(path, kHeader, "is shorter than a file of an RWKV model")) {}
  ~Mapped() { unmap(bytes); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::span<const std::byte> bytes;
};

float number_at(const std::byte* from, ElementType type) {
  if (type == ElementType::f32) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return type == ElementType::f16 ? from_half(bits) : widen(bits);
}

std::vector<float> numbers_of(std::span<const std::byte> bytes, ElementType type) {
  const std::size_t size = element_size(type);
  std::vector<float> numbers(bytes.size() / size);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = number_at(bytes.data() + i * size, type);
  return numbers;
}

// Reads a file of rwkv.cpp from its beginning to its end.
class RwkvFile {
 public:
  RwkvFile(const std::string& path, std::span<const std::byte> bytes)
      : path_(path), bytes_(bytes), at_(kHeader) {}

  std::map<std::string, RwkvTensor> tensors() {
    std::map<std::string, RwkvTensor> all;
    while (at_ < bytes_.size()) {
      auto [name, tensor] = next();
      if (!all.emplace(name, std::move(tensor)).second)
        throw DataError("{}: has tensor '{}' twice", path_, name);
    }
    return all;
  }

 private:
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size() - at_)
      throw DataError("{}: ends at byte {}, within a tensor", path_, bytes_.size());
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  std::int32_t integer(std::int32_t low, std::int32_t high, const char* what) {
    std::int32_t value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    if (value < low || value > high)
      throw DataError("{}: {} of the tensor at byte {} is {}, outside [{}, {}]", path_, what,
                      at_ - sizeof value, value, low, high);
    return value;
  }
  std::pair<std::string, RwkvTensor> next() {
    const std::int32_t dimensions = integer(1, kMostDimensions, "the number of dimensions"),
                       length = integer(1, kLongestName, "the length of the name"),
                       type = integer(0, 1, "the type (0 is f32, 1 is f16)");
    RwkvTensor tensor;
    std::uint64_t count = 1;
    for (std::int32_t i = 0; i < dimensions; ++i) {
      tensor.shape.insert(tensor.shape.begin(), integer(1, 1 << 24, "a dimension"));
      count *= static_cast<std::uint64_t>(tensor.shape.front());
      if (count > bytes_.size()) throw DataError("{}: has a tensor larger than itself", path_);
    }
    const auto name = take(static_cast<std::uint64_t>(length));
    const ElementType element = type == 0 ? ElementType::f32 : ElementType::f16;
    tensor.numbers = numbers_of(take(count * element_size(element)), element);
    return {{reinterpret_cast<const char*>(name.data()), name.size()}, std::move(tensor)};
  }

  const std::string& path_;
  const std::span<const std::byte> bytes_;
  std::size_t at_;
};

RwkvTensor transposed(const RwkvTensor& from) {
  const std::int64_t rows = from.shape[0], columns = from.shape[1];
  RwkvTensor to{{columns, rows}, std::vector<float>(from.numbers.size())};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to.numbers[j * rows + i] = from.numbers[i * columns + j];
  return to;
}

bool ends_with_one_of(std::string_view name, std::initializer_list<const char*> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](const char* end) { return name.ends_with(end); });
}

// Turns tensors of a PyTorch checkpoint into those of rwkv.cpp's files.
std::map<std::string, RwkvTensor> from_published(std::map<std::string, RwkvTensor> published) {
  std::map<std::string, RwkvTensor> all;
  for (auto& [name, tensor] : published) {
    if (name.ends_with(".att.time_decay"))
      for (float& number : tensor.numbers) number = std::exp(-std::exp(number));
    const bool small = ends_with_one_of(name, {".att.w1", ".att.w2", ".att.a1", ".att.a2",
                                               ".att.v1", ".att.v2", ".att.g1", ".att.g2"});
    if (small && tensor.shape.size() == 2) tensor = transposed(tensor);
    if (!ends_with_one_of(name,
                          {".att.x_r", ".att.x_w", ".att.x_k", ".att.x_v", ".att.x_a", ".att.x_g"}))
      all[name] = std::move(tensor);
  }
  // The names sort by a, g, k, r, v, w; the mixes stand in the order r, w, k, v, a, g.
  for (const auto& [name, first] : published) {
    if (!name.ends_with(".att.x_r")) continue;
    const std::string stem = name.substr(0, name.size() - 1);
    RwkvTensor mixes{{0}, {}};
    for (const char mix : std::string_view("rwkvag"))
      if (const auto found = published.find(stem + mix); found != published.end())
        mixes.numbers.insert(mixes.numbers.end(), found->second.numbers.begin(),
                             found->second.numbers.end());
    mixes.shape[0] = static_cast<std::int64_t>(mixes.numbers.size());
    all[stem + "rwkvag"] = std::move(mixes);
  }
  return all;
}

std::map<std::string, RwkvTensor> of_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  std::map<std::string, RwkvTensor> all;
  for (const auto& [name, tensor] : file.tensors()) {
    if (tensor.type == ElementType::i64 || tensor.type == ElementType::boolean)
      throw DataError("{}: tensor '{}' holds whole numbers, and an RWKV model has none", path,
                      name);
    all[name] = {tensor.shape, numbers_of(tensor.bytes, tensor.type)};
  }
  return from_published(std::move(all));
}

}  // namespace

RwkvTensors read_rwkv_tensors(const std::string& path) {
  const Mapped mapped(path);
  RwkvTensors read{.path = path, .digest = digest_of(mapped.bytes), .tensors = {}};
  std::int32_t header[6];
  std::memcpy(header, mapped.bytes.data(), sizeof header);
  if (header[0] != kMagic) {
    if (!path.ends_with(".safetensors"))
      throw DataError(
          "{}: is neither a file of rwkv.cpp, which begins with its magic number, nor called "
          "*.safetensors; pickled weights (.pth) are not read",
          path);
    read.tensors = of_safetensors(path);
    return read;
  }
  if (header[1] != kVersion)
    throw DataError("{}: is of version {} of rwkv.cpp's files; only {} is read", path, header[1],
                    kVersion);
  if (header[5] != 0 && header[5] != 1)
    throw DataError("{}: its weights are of type {} of rwkv.cpp; only f32 (0) and f16 (1) are read",
                    path, header[5]);
  read.tensors = RwkvFile(path, mapped.bytes).tensors();
  return read;
}

}  // namespace draftlab
