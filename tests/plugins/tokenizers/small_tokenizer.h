// tokenizer.json files made by hand: 256 bytes, then one token for each merge, then added tokens.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/tokenizers/byte_pairs.h"

namespace draftlab {

struct SmallTokenizer {
  nlohmann::json json = {{"version", "1.0"},
                         {"added_tokens", nlohmann::json::array()},
                         {"normalizer", nullptr},
                         {"pre_tokenizer",
                          {{"type", "ByteLevel"},
                           {"add_prefix_space", false},
                           {"trim_offsets", true},
                           {"use_regex", true}}},
                         {"post_processor", nullptr},
                         {"decoder", {{"type", "ByteLevel"}}},
                         {"model",
                          {{"type", "BPE"},
                           {"vocab", nlohmann::json::object()},
                           {"merges", nlohmann::json::array()}}}};
  int next = 0;

  SmallTokenizer() {
    for (int byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      json["model"]["vocab"][spelled_bytes({&c, 1})] = next++;
    }
  }
  // Both parts as bytes; the id of what they become.
  int merge(const std::string& left, const std::string& right, bool as_pair = false) {
    const std::string a = spelled_bytes(left), b = spelled_bytes(right);
    if (as_pair)
      json["model"]["merges"].push_back({a, b});
    else
      json["model"]["merges"].push_back(a + " " + b);
    json["model"]["vocab"].emplace(a + b, next);
    return next++;
  }
  int add(const std::string& content, const nlohmann::json& flags = nlohmann::json::object()) {
    nlohmann::json token = {{"id", next},      {"content", content}, {"single_word", false},
                            {"lstrip", false}, {"rstrip", false},    {"normalized", false},
                            {"special", true}};
    token.update(flags);
    json["added_tokens"].push_back(token);
    return next++;
  }
  std::string text() const { return json.dump(); }
};

}  // namespace draftlab
