// Writes a vocabulary of llama2.c, for tests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

// The three special pieces and the bytes, and then these pieces with their scores.
inline std::string small_llama2c_vocabulary(
    const std::vector<std::pair<std::string, float>>& pieces) {
  std::string bytes(4, '\0');
  const auto add = [&](const std::string& piece, float score) {
    const auto length = static_cast<std::int32_t>(piece.size());
    bytes.append(reinterpret_cast<const char*>(&score), 4);
    bytes.append(reinterpret_cast<const char*>(&length), 4);
    bytes += piece;
  };
  for (const char* const special : {"<unk>", "\n<s>\n", "\n</s>\n"}) add(special, 0);
  for (int byte = 0; byte < 256; ++byte) {
    char piece[8];
    std::snprintf(piece, sizeof piece, "<0x%02X>", byte);
    add(piece, 0);
  }
  for (const auto& [piece, score] : pieces) add(piece, score);
  return bytes;
}

}  // namespace draftlab
