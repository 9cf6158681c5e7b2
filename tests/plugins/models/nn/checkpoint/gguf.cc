// Reading GGUF: every type of numbers, and files that are damaged.
#include "plugins/models/nn/checkpoint/gguf.h"

#include <cmath>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/base/memory_file.h"
#include "tests/plugins/models/nn/checkpoint/small_gguf.h"

namespace draftlab {
namespace {

std::vector<float> numbers_in_waves(std::int64_t count) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count; ++i)
    numbers.push_back(0.5f * std::sin(static_cast<float>(i)));
  return numbers;
}

std::string complaint(const SmallGguf& file, std::size_t cut = std::string::npos) {
  const MemoryFile stored(file.bytes().substr(0, cut));
  try {
    const GgufFile read(stored.path());
  } catch (const DataError& error) {
    const std::string what = error.what(), path = stored.path() + ": ";
    return what.starts_with(path) ? what.substr(path.size()) : "no path: " + what;
  }
  return "nothing";
}

}  // namespace

DOCTEST_TEST_CASE("GGUF: tensors of every type are read, and other keys are skipped") {
  SmallGguf file;
  file.key("list", 9, SmallGguf::raw(5u) + SmallGguf::raw(std::uint64_t{2}) + "12345678");
  file.key("words", 9,
           SmallGguf::raw(8u) + SmallGguf::raw(std::uint64_t{2}) + SmallGguf::text("a") +
               SmallGguf::text("bc"));
  file.architecture("qwen3");
  file.key("yes", 7, "1");
  const std::vector<float> numbers = numbers_in_waves(3 * 64);
  for (const auto& [name, type] :
       {std::pair("f32", GgufType::f32), std::pair("f16", GgufType::f16),
        std::pair("bf16", GgufType::bf16), std::pair("q8", GgufType::q8_0),
        std::pair("q4", GgufType::q4_0)})
    file.tensor(name, {3, 64}, numbers, type);
  const MemoryFile stored(file.bytes());
  const GgufFile read(stored.path());
  DOCTEST_CHECK(read.architecture() == "qwen3");
  DOCTEST_CHECK(read.digest().size() == 16);
  DOCTEST_REQUIRE(read.tensors().size() == 5);
  for (const auto& [name, most] :
       {std::pair("f32", 0.0), std::pair("f16", 3e-4), std::pair("bf16", 4e-3),
        std::pair("q8", 3e-3), std::pair("q4", 0.07)}) {
    DOCTEST_INFO(name);
    const GgufTensor& tensor = read.tensors().at(name);
    DOCTEST_CHECK(tensor.shape == std::vector<std::int64_t>{3, 64});
    std::vector<float> decoded(numbers.size());
    decode(tensor, decoded.data());
    double largest = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(decoded[i] - numbers[i])));
    DOCTEST_CHECK(largest <= most);
  }
  // A block of Q4_0 as the format says it: number i in the lower half of byte i, i + 16 above it.
  SmallGguf own;
  own.info("x", {32}, 2, 0);
  own.data = SmallGguf::raw(to_half(0.5f)) + std::string("\x1f", 1) + std::string(15, '\x88');
  const MemoryFile block(own.bytes());
  std::vector<float> decoded(32);
  const GgufFile again(block.path());
  decode(again.tensors().at("x"), decoded.data());
  DOCTEST_CHECK(decoded[0] == 3.5f);
  DOCTEST_CHECK(decoded[16] == -3.5f);
  DOCTEST_CHECK(decoded[1] == 0);
}

DOCTEST_TEST_CASE("GGUF: what is damaged or not supported is refused in a sentence") {
  const auto with = [](const std::vector<std::uint64_t>& dimensions, std::uint32_t type,
                       std::uint64_t offset, std::size_t bytes = 64) {
    SmallGguf file;
    file.info("a", dimensions, type, offset);
    file.data = std::string(bytes, '\0');
    return file;
  };
  const auto says = [](const SmallGguf& file, const std::string& words) {
    const std::string what = complaint(file);
    DOCTEST_INFO(what);
    DOCTEST_CHECK(what.find(words) != std::string::npos);
  };
  DOCTEST_CHECK(complaint(with({16}, 0, 0)) == "nothing");
  SmallGguf other;
  other.magic = "GGML";
  says(other, "does not begin with GGUF");
  SmallGguf old;
  old.version = 1;
  says(old, "version 1");
  says(with({17}, 0, 0), "outside the 64 bytes");
  says(with({8}, 0, 64), "outside the 64 bytes");
  says(with({8}, 0, 8), "no multiple of 32");
  says(with({8}, 12, 0), "type 12");
  says(with({33}, 8, 0), "no whole blocks");
  says(with({0}, 0, 0), "a dimension of 0");
  says(with({1, 1, 1, 1, 1}, 0, 0), "5 dimensions");
  says(with({1ull << 40, 1ull << 40}, 0, 0), "more than 2^64 numbers");
  SmallGguf twice = with({8}, 0, 0);
  twice.info("a", {8}, 0, 32);
  says(twice, "described twice");
  SmallGguf over = with({16}, 0, 0);
  over.info("b", {8}, 0, 32);
  says(over, "overlaps another");
  SmallGguf crooked = with({8}, 0, 0);
  crooked.key("general.alignment", 4, SmallGguf::raw(48u));
  says(crooked, "no power of 2");
  SmallGguf unknown;
  unknown.key("x", 13, "");
  says(unknown, "kind 13");
  SmallGguf nested;
  nested.key("x", 9, SmallGguf::raw(9u) + SmallGguf::raw(std::uint64_t{1}));
  says(nested, "list of lists");
  SmallGguf endless;
  endless.key("x", 9, SmallGguf::raw(10u) + SmallGguf::raw(~std::uint64_t{0}));
  says(endless, "more than 2^64 bytes");
  SmallGguf more = with({8}, 0, 0);
  more.extra_tensors = 1ull << 60;
  says(more, "a name of 0 bytes");
  SmallGguf keys = with({8}, 0, 0);
  keys.extra_keys = 1ull << 60;
  says(keys, "ends within");
  // Wherever a file ends too soon, that is said.
  const SmallGguf whole = with({16}, 0, 0);
  for (std::size_t cut = 0; cut < whole.bytes().size(); ++cut)
    DOCTEST_REQUIRE(complaint(whole, cut) != "nothing");
}

DOCTEST_TEST_CASE("GGUF: tensors of Qwen's kind have their names") {
  DOCTEST_CHECK(name_of_gguf_tensor("token_embd.weight") == "model.embed_tokens.weight");
  DOCTEST_CHECK(name_of_gguf_tensor("blk.11.attn_q.bias") ==
                "model.layers.11.self_attn.q_proj.bias");
  DOCTEST_CHECK(name_of_gguf_tensor("blk.0.ffn_norm.weight") ==
                "model.layers.0.post_attention_layernorm.weight");
  DOCTEST_CHECK(name_of_gguf_tensor("blk.0.ssm_a.weight").empty());
  DOCTEST_CHECK(name_of_gguf_tensor("blk.0").empty());
  DOCTEST_CHECK(name_of_gguf_tensor("rope_divisors.weight").empty());
}

DOCTEST_TEST_CASE("GGUF: a tensor's name leads to Hugging Face's and back") {
  for (const auto& [gguf, own] :
       {std::pair("token_embd.weight", "model.embed_tokens.weight"),
        std::pair("output.weight", "lm_head.weight"),
        std::pair("blk.10.attn_q_norm.weight", "model.layers.10.self_attn.q_norm.weight"),
        std::pair("blk.0.attn_q.bias", "model.layers.0.self_attn.q_proj.bias")}) {
    DOCTEST_CHECK(name_of_gguf_tensor(gguf) == own);
    DOCTEST_CHECK(gguf_name_of_tensor(own) == gguf);
  }
  DOCTEST_CHECK(gguf_name_of_tensor("model.layers.0.mlp.experts.0.up_proj.weight").empty());
  DOCTEST_CHECK(gguf_name_of_tensor("model.layers.").empty());
}

}  // namespace draftlab
