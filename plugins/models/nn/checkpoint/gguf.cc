#include "plugins/models/nn/checkpoint/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/mapped_file.h"
#include "plugins/models/nn/kernels/rows/quantised_blocks.h"

namespace draftlab {
namespace {

// A number of the format's list of types; those between are other ways to round weights.
struct StoredFormat {
  std::uint32_t number;
  GgufType type;
  // The bytes of so many numbers.
  std::uint64_t bytes, numbers;
};
constexpr StoredFormat kFormats[] = {{0, GgufType::f32, 4, 1},
                                     {1, GgufType::f16, 2, 1},
                                     {2, GgufType::q4_0, 18, 32},
                                     {8, GgufType::q8_0, 34, 32},
                                     {30, GgufType::bf16, 2, 1}};
constexpr std::uint64_t kMostDimensions = 4, kLongestName = 1 << 16;
enum class ValueKind : std::uint32_t { text = 8, list = 9, last = 12 };
// The bytes of a value of each kind; texts and lists say theirs.
constexpr std::uint64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// Takes one value after another from the front, and refuses to go beyond the end.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::span<const std::byte> take(std::uint64_t count, const std::string& what) {
    if (count > bytes_.size() - at_)
      throw DataError("{}: ends within {}, which wants {} bytes more at byte {} of {}", path_, what,
                      count, at_, bytes_.size());
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  template <class Number>
  Number number(const std::string& what) {
    Number value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }
  std::string text(const std::string& what) {
    const auto length = number<std::uint64_t>(what);
    const auto bytes = take(length, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::uint64_t at() const { return at_; }

 private:
  std::span<const std::byte> bytes_;
  const std::string& path_;
  std::uint64_t at_ = 0;
};

// Skips the value of a key.
void skip(Cursor& cursor, std::uint32_t kind, const std::string& what, const std::string& path) {
  if (kind > static_cast<std::uint32_t>(ValueKind::last))
    throw DataError("{}: {} has a value of kind {}, and the format has kinds 0 to 12", path, what,
                    kind);
  if (kind == static_cast<std::uint32_t>(ValueKind::text)) {
    cursor.text(what);
    return;
  }
  if (kind != static_cast<std::uint32_t>(ValueKind::list)) {
    cursor.take(kSizes[kind], what);
    return;
  }
  const auto of = cursor.number<std::uint32_t>(what);
  const auto count = cursor.number<std::uint64_t>(what);
  if (of == static_cast<std::uint32_t>(ValueKind::list))
    throw DataError("{}: {} is a list of lists, which no model of draftlab has", path, what);
  if (of > static_cast<std::uint32_t>(ValueKind::last) || kSizes[of] == 0) {
    for (std::uint64_t i = 0; i < count; ++i) skip(cursor, of, what, path);
    return;
  }
  std::uint64_t bytes;
  if (__builtin_mul_overflow(count, kSizes[of], &bytes))
    throw DataError("{}: {} is a list of more than 2^64 bytes", path, what);
  cursor.take(bytes, what);
}

float bf16(const std::byte* from) {
  std::uint16_t bits;
  std::memcpy(&bits, from, 2);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float f16(const std::byte* from) {
  std::uint16_t bits;
  std::memcpy(&bits, from, 2);
  return from_half(bits);
}

// What tensors are called in GGUF and in Hugging Face's checkpoints: whole names, and the parts
// between the number of a layer and "weight" or "bias".
constexpr std::pair<const char*, const char*> kWhole[] = {
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output_norm.weight", "model.norm.weight"},
    {"output.weight", "lm_head.weight"},
    {"rope_freqs.weight", kRopeDivisors}};
constexpr std::pair<const char*, const char*> kOfLayer[] = {
    {"attn_norm", "input_layernorm"},    {"ffn_norm", "post_attention_layernorm"},
    {"attn_q", "self_attn.q_proj"},      {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},      {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"}};
const std::string kLayers = "model.layers.";

// What stands before the descriptions of the tensors.
struct Head {
  std::uint64_t tensors = 0, alignment = 32;
  std::string architecture;
};

Head read_head(Cursor& cursor, const std::string& path) {
  if (std::memcmp(cursor.take(4, "its magic").data(), "GGUF", 4) != 0)
    throw DataError("{}: is not a GGUF file (it does not begin with GGUF)", path);
  const auto version = cursor.number<std::uint32_t>("its version");
  if (version != 2 && version != 3)
    throw DataError("{}: has version {} of GGUF; 2 and 3 are read", path, version);
  Head head;
  head.tensors = cursor.number<std::uint64_t>("its number of tensors");
  const auto keys = cursor.number<std::uint64_t>("its number of keys");
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::string key = cursor.text("a key");
    const std::string what = "the value of '" + key.substr(0, 60) + "'";
    const auto kind = cursor.number<std::uint32_t>(what);
    if (key == "general.architecture" && kind == static_cast<std::uint32_t>(ValueKind::text))
      head.architecture = cursor.text(what);
    else if (key == "general.alignment" && kind == 4)
      head.alignment = cursor.number<std::uint32_t>(what);
    else
      skip(cursor, kind, what, path);
  }
  if (!std::has_single_bit(head.alignment))
    throw DataError("{}: general.alignment is {}, which is no power of 2", path, head.alignment);
  return head;
}

// A tensor, what errors call it, and where its bytes stand behind the descriptions.
struct Placed {
  GgufTensor* tensor;
  std::string where;
  std::uint64_t offset, size;
};

// Reads the description of a tensor, which joins the others.
Placed read_tensor(Cursor& cursor, const std::string& path,
                   std::map<std::string, GgufTensor>& tensors) {
  const std::string name = cursor.text("the name of a tensor");
  const std::string where = path + ": tensor '" + name.substr(0, 60) + "'";
  if (name.empty() || name.size() > kLongestName)
    throw DataError("{} has a name of {} bytes", where, name.size());
  const auto [entry, fresh] = tensors.try_emplace(name);
  if (!fresh) throw DataError("{} is described twice", where);
  GgufTensor& tensor = entry->second;
  const auto dimensions = cursor.number<std::uint32_t>("a tensor's dimensions");
  if (dimensions < 1 || dimensions > kMostDimensions)
    throw DataError("{} has {} dimensions, 1 to 4 can be", where, dimensions);
  std::uint64_t numbers = 1;
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    const auto size = cursor.number<std::uint64_t>("a tensor's dimensions");
    if (size < 1 || size > 1ull << 40 || __builtin_mul_overflow(numbers, size, &numbers))
      throw DataError("{} has a dimension of {}, or more than 2^64 numbers", where, size);
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(size));
  }
  const auto number = cursor.number<std::uint32_t>("a tensor's type");
  const auto* const format =
      std::find_if(std::begin(kFormats), std::end(kFormats),
                   [&](const StoredFormat& known) { return known.number == number; });
  if (format == std::end(kFormats))
    throw DataError(
        "{} has numbers of type {}; F32, F16, BF16, Q8_0 and Q4_0 (types 0, 1, 30, 8 and 2) are "
        "read",
        where, number);
  tensor.type = format->type;
  if (static_cast<std::uint64_t>(tensor.shape.back()) % format->numbers != 0)
    throw DataError("{} has rows of {} numbers, which are no whole blocks of 32", where,
                    tensor.shape.back());
  std::uint64_t size;
  if (__builtin_mul_overflow(numbers / format->numbers, format->bytes, &size))
    throw DataError("{} has more than 2^64 bytes", where);
  return {&tensor, where, cursor.number<std::uint64_t>("a tensor's offset"), size};
}

}  // namespace

GgufFile::GgufFile(const std::string& path)
    : path_(path), file_(map_file(path, 24, "is not a GGUF file (shorter than its header)")) {
  try {
    parse();
  } catch (...) {
    unmap(file_);
    throw;
  }
}

GgufFile::~GgufFile() { unmap(file_); }

std::string GgufFile::digest() const {
  return digest_once(path_, [this] { return digest_of(file_); });
}

void GgufFile::parse() {
  Cursor cursor(file_, path_);
  const Head head = read_head(cursor, path_);
  architecture_ = head.architecture;
  std::vector<Placed> placed;
  for (std::uint64_t i = 0; i < head.tensors; ++i)
    placed.push_back(read_tensor(cursor, path_, tensors_));
  const std::uint64_t begin = (cursor.at() + head.alignment - 1) / head.alignment * head.alignment,
                      room = file_.size() < begin ? 0 : file_.size() - begin;
  for (const auto& [tensor, where, offset, size] : placed) {
    if (offset % head.alignment != 0)
      throw DataError("{} begins at offset {}, which is no multiple of {}", where, offset,
                      head.alignment);
    if (offset > room || size > room - offset)
      throw DataError("{} has {} bytes at offset {}, outside the {} bytes of data", where, size,
                      offset, room);
    tensor->bytes = file_.subspan(begin + offset, size);
  }
  check_overlaps();
}

void GgufFile::check_overlaps() const {
  std::vector<std::pair<const std::byte*, const std::string*>> begins;
  for (const auto& [name, tensor] : tensors_) begins.emplace_back(tensor.bytes.data(), &name);
  std::sort(begins.begin(), begins.end());
  for (std::size_t i = 1; i < begins.size(); ++i) {
    const GgufTensor& before = tensors_.at(*begins[i - 1].second);
    if (before.bytes.data() + before.bytes.size() > begins[i].first)
      throw DataError("{}: tensor '{}' overlaps another", path_, begins[i].second->substr(0, 60));
  }
}

bool is_gguf(const std::string& path) { return path.ends_with(".gguf"); }

std::string name_of_gguf_tensor(const std::string& name) {
  for (const auto& [gguf, own] : kWhole)
    if (name == gguf) return own;
  if (!name.starts_with("blk.")) return "";
  const std::size_t dot = name.find('.', 4), last = name.rfind('.');
  if (dot == std::string::npos || last <= dot) return "";
  const std::string layer = name.substr(4, dot - 4), part = name.substr(dot + 1, last - dot - 1);
  for (const auto& [gguf, own] : kOfLayer)
    if (part == gguf) return kLayers + layer + "." + own + name.substr(last);
  return "";
}

std::string gguf_name_of_tensor(const std::string& name) {
  for (const auto& [gguf, own] : kWhole)
    if (name == own) return gguf;
  if (!name.starts_with(kLayers)) return "";
  const std::size_t dot = name.find('.', kLayers.size()), last = name.rfind('.');
  if (dot == std::string::npos || last <= dot) return "";
  const std::string layer = name.substr(kLayers.size(), dot - kLayers.size()),
                    part = name.substr(dot + 1, last - dot - 1);
  for (const auto& [gguf, own] : kOfLayer)
    if (part == own) return "blk." + layer + "." + gguf + name.substr(last);
  return "";
}

void decode(const GgufTensor& tensor, float* to) {
  const std::byte* from = tensor.bytes.data();
  const std::byte* const end = from + tensor.bytes.size();
  switch (tensor.type) {
    case GgufType::f32: std::memcpy(to, from, tensor.bytes.size()); return;
    case GgufType::f16:
      for (; from < end; from += 2) *to++ = f16(from);
      return;
    case GgufType::bf16:
      for (; from < end; from += 2) *to++ = bf16(from);
      return;
    case GgufType::q8_0:
      for (; from < end; from += 34)
        for (std::int64_t i = 0; i < kQuantisedBlock; ++i)
          *to++ = static_cast<float>(static_cast<std::int8_t>(from[2 + i])) * f16(from);
      return;
    case GgufType::q4_0:
      for (; from < end; from += 18) {
        for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
          const auto both = static_cast<int>(from[2 + i % 16]);
          *to++ = static_cast<float>((i < 16 ? both & 15 : both >> 4) - 8) * f16(from);
        }
      }
      return;
  }
}

}  // namespace draftlab
