// Writes GGUF files for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/nn/checkpoint/gguf.h"
#include "plugins/models/nn/kernels/rows/quantised_blocks.h"

namespace draftlab {

struct SmallGguf {
  std::uint32_t version = 3, alignment = 32;
  std::uint64_t extra_tensors = 0, extra_keys = 0;
  std::string magic = "GGUF", keys, infos, data;
  std::uint64_t key_count = 0, tensor_count = 0;

  template <class Number>
  static std::string raw(Number number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
  }
  static std::string text(const std::string& text) {
    return raw(static_cast<std::uint64_t>(text.size())) + text;
  }
  void key(const std::string& name, std::uint32_t kind, const std::string& value) {
    keys += text(name) + raw(kind) + value;
    ++key_count;
  }
  void architecture(const std::string& name) { key("general.architecture", 8, text(name)); }
  void info(const std::string& name, const std::vector<std::uint64_t>& dimensions,
            std::uint32_t type, std::uint64_t offset) {
    infos += text(name) + raw(static_cast<std::uint32_t>(dimensions.size()));
    for (const std::uint64_t size : dimensions) infos += raw(size);
    infos += raw(type) + raw(offset);
    ++tensor_count;
  }
  // Adds a tensor whose shape stands as safetensors have it.
  void tensor(const std::string& name, const std::vector<std::int64_t>& shape,
              const std::vector<float>& numbers, GgufType type) {
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    const std::uint32_t number = type == GgufType::f32    ? 0
                                 : type == GgufType::f16  ? 1
                                 : type == GgufType::q4_0 ? 2
                                 : type == GgufType::q8_0 ? 8
                                                          : 30;
    info(name, {shape.rbegin(), shape.rend()}, number, data.size());
    if (type == GgufType::f32 || type == GgufType::f16 || type == GgufType::bf16) {
      for (const float value : numbers) {
        if (type == GgufType::f32) data += raw(value);
        if (type == GgufType::f16) data += raw(to_half(value));
        if (type == GgufType::bf16) data += raw(value).substr(2);
      }
      return;
    }
    for (std::size_t first = 0; first < numbers.size(); first += kQuantisedBlock) {
      const QuantisedBlock block = type == GgufType::q8_0 ? eight_bits(numbers.data() + first)
                                                          : four_bits(numbers.data() + first);
      data += raw(block.scale);
      for (std::int64_t i = 0; i < (type == GgufType::q8_0 ? 32 : 16); ++i)
        data += static_cast<char>(type == GgufType::q8_0
                                      ? block.numbers[i]
                                      : (block.numbers[i] + 8) | (block.numbers[i + 16] + 8) << 4);
    }
  }
  std::string bytes() const {
    std::string all = magic + raw(version) + raw(tensor_count + extra_tensors) +
                      raw(key_count + extra_keys) + keys + infos;
    all.resize((all.size() + alignment - 1) / alignment * alignment);
    return all + data;
  }
};

}  // namespace draftlab
