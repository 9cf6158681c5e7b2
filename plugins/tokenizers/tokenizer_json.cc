#include "plugins/tokenizers/tokenizer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/error.h"
#include "plugins/tokenizers/unicode.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

// So many levels of sequences within sequences are read.
constexpr int kDeepest = 8;
constexpr std::uint64_t kLargestId = 1 << 30;

// A value of a file, and the words that say where it stands.
struct Place {
  const Json& json;
  std::string where;

  [[noreturn]] void refuse(const std::string& why) const { throw DataError("{} {}", where, why); }
  bool has(const char* key) const {
    return json.is_object() && json.contains(key) && !json[key].is_null();
  }
  Place at(const char* key) const {
    if (!has(key)) refuse(std::string("has no '") + key + "'");
    return {json[key], where + ", '" + key + "'"};
  }
  Place at(std::size_t index) const {
    return {json[index], where + "[" + std::to_string(index) + "]"};
  }
  std::string text() const {
    if (!json.is_string()) refuse("is no text");
    return json.get<std::string>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    return has(key) ? at(key).text() : otherwise;
  }
  bool truth(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!json[key].is_boolean()) at(key).refuse("is neither true nor false");
    return json[key].get<bool>();
  }
  Token id() const {
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kLargestId)
      refuse("is no token id, a whole number of at most " + std::to_string(kLargestId));
    return json.get<Token>();
  }
  const Place& object() const {
    if (!json.is_object()) refuse("is no object");
    return *this;
  }
  const Place& array() const {
    if (!json.is_array()) refuse("is no list");
    return *this;
  }
};

Json parsed(const std::string& text, const std::string& name) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) throw DataError("'{}' is not a JSON object", name);
  return json;
}

// Calls visit(component) for a component or, where it is a sequence, for each of its elements;
// `list` names the sequence's key.
template <class Visit>
void each(const Place& component, const char* list, Visit visit, int depth = 0) {
  if (depth > kDeepest) component.refuse("is nested too deeply");
  if (component.at("type").text() != "Sequence") return visit(component);
  const Place members = component.at(list);
  members.array();
  for (std::size_t i = 0; i < members.json.size(); ++i) each(members.at(i), list, visit, depth + 1);
}

[[noreturn]] void unknown(const Place& component) {
  component.refuse("is of type '" + component.json["type"].get<std::string>() +
                   "', which is not supported");
}

void read_normalizer(const Place& normalizer, ByteLevelParts& parts) {
  each(normalizer, "normalizers", [&](const Place& one) {
    const std::string form = one.at("type").text();
    if (!is_normal_form(form)) unknown(one);
    parts.forms.push_back(form);
  });
}

Cut cut_named(const Place& behavior) {
  const std::string name = behavior.text();
  if (name == "Isolated") return Cut::isolated;
  if (name == "Removed") return Cut::removed;
  if (name == "MergedWithPrevious") return Cut::merged_with_previous;
  if (name == "MergedWithNext") return Cut::merged_with_next;
  if (name == "Contiguous") return Cut::contiguous;
  behavior.refuse("is '" + name + "', which is not supported");
}

Pattern read_pattern(const Place& pattern) {
  try {
    if (pattern.has("Regex")) return Pattern(pattern.at("Regex").text());
    return Pattern::literal(pattern.at("String").text());
  } catch (const DataError& error) {
    throw DataError("{}: {}", pattern.where, error.what());
  }
}

void read_pre_tokenizer(const Place& pre_tokenizer, ByteLevelParts& parts) {
  bool bytes = false;
  each(pre_tokenizer, "pretokenizers", [&](const Place& one) {
    if (bytes) one.refuse("stands behind ByteLevel, which must be the last");
    const std::string type = one.at("type").text();
    if (type == "Split") {
      parts.words.add_cut(read_pattern(one.at("pattern")), cut_named(one.at("behavior")),
                          one.truth("invert", false));
    } else if (type == "Digits") {
      parts.words.add_cut(Pattern("\\p{N}"),
                          one.truth("individual_digits", false) ? Cut::isolated : Cut::contiguous,
                          false);
    } else if (type == "ByteLevel") {
      bytes = true;
      if (one.truth("add_prefix_space", true)) parts.words.add_space();
      if (one.truth("use_regex", true))
        parts.words.add_cut(Pattern(kGpt2Pattern), Cut::isolated, false);
    } else {
      unknown(one);
    }
  });
  if (!bytes) pre_tokenizer.refuse("has no ByteLevel; only byte-level BPE is supported");
}

BytePairs::Vocabulary read_vocabulary(const Place& vocabulary) {
  BytePairs::Vocabulary tokens;
  tokens.reserve(vocabulary.object().json.size());
  for (const auto& [spelling, id] : vocabulary.json.items())
    tokens[spelling] = Place{id, vocabulary.where + ", '" + spelling + "'"}.id();
  return tokens;
}

// Reads "a b" as a pair. Returns false where the line is not one.
bool read_merge(const std::string& line, BytePairs::Merges& merges) {
  const std::size_t space = line.find(' ');
  if (space == 0 || space == std::string::npos || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string::npos)
    return false;
  merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  return true;
}

void read_model(const Place& model, ByteLevelParts& parts) {
  if (const std::string type = model.object().text("type", "BPE"); type != "BPE") unknown(model);
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!model.text(key, "").empty())
      model.at(key).refuse("is '" + model.text(key, "") + "', which is not supported");
  if (model.truth("byte_fallback", false))
    model.at("byte_fallback").refuse("is true, which is not supported");
  if (model.has("dropout") &&
      !(model.json["dropout"].is_number() && model.json["dropout"].get<double>() == 0))
    model.at("dropout").refuse("is not 0, which is not supported");
  parts.whole_words = model.truth("ignore_merges", false);
  parts.vocabulary = read_vocabulary(model.at("vocab"));
  const Place merges = model.at("merges");
  for (std::size_t i = 0; i < merges.array().json.size(); ++i) {
    const Json& merge = merges.json[i];
    if (merge.is_string() && read_merge(merge.get<std::string>(), parts.merges)) continue;
    if (!merge.is_array() || merge.size() != 2 || !merge[0].is_string() || !merge[1].is_string())
      merges.at(i).refuse("is no pair of tokens");
    parts.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
  }
}

AddedToken read_added(const Place& token, Token id) {
  AddedToken added{id, token.at("content").text()};
  if (added.content.empty()) token.refuse("is an empty text");
  added.single_word = token.truth("single_word", false);
  added.lstrip = token.truth("lstrip", false);
  added.rstrip = token.truth("rstrip", false);
  added.normalized = token.truth("normalized", !token.truth("special", false));
  return added;
}

// Returns the id of a token, according to what the files hold.
Token id_of(const ByteLevelParts& parts, const std::string& content) {
  for (const AddedToken& added : parts.added)
    if (added.content == content) return added.id;
  const auto found = parts.vocabulary.find(content);
  return found == parts.vocabulary.end() ? kNoToken : found->second;
}

// Makes a token of the vocabulary one that is found in a text as a whole.
void mark_added(ByteLevelParts& parts, const std::string& content) {
  const auto found = parts.vocabulary.find(content);
  const bool known = std::any_of(parts.added.begin(), parts.added.end(),
                                 [&](const AddedToken& one) { return one.content == content; });
  if (found != parts.vocabulary.end() && !known) parts.added.push_back({found->second, content});
}

void add_end(ByteLevelParts& parts, Token end) {
  if (end != kNoToken && !std::count(parts.ends.begin(), parts.ends.end(), end))
    parts.ends.push_back(end);
}

void read_decoder(const Place& decoder) {
  each(decoder, "decoders", [](const Place& one) {
    if (one.at("type").text() != "ByteLevel") unknown(one);
  });
}

// Reads only what a post-processor puts in front of a text; what it puts behind does not matter
// here.
void read_post_processor(const Place& processor, ByteLevelParts& parts) {
  each(processor, "processors", [&](const Place& one) {
    const std::string type = one.at("type").text();
    if (type == "ByteLevel") return;
    if (type != "TemplateProcessing") unknown(one);
    const Place single = one.at("single");
    if (single.array().json.empty() || !single.at(std::size_t{0}).has("SpecialToken")) return;
    const Place first = single.at(std::size_t{0}).at("SpecialToken").at("id");
    parts.begin = id_of(parts, first.text());
    if (parts.begin == kNoToken) first.refuse("is '" + first.text() + "', which is no token");
  });
}

// Returns the content of a token that is written as a text or as an object with its content, and ""
// where it is null.
std::string content_of(const Place& config, const char* key) {
  if (!config.has(key)) return {};
  return config.json[key].is_object() ? config.at(key).at("content").text() : config.at(key).text();
}

}  // namespace

ByteLevelParts read_tokenizer_json(const std::string& text, const std::string& name) {
  const Json json = parsed(text, name);
  const Place file{json, "'" + name + "'"};
  ByteLevelParts parts;
  read_model(file.at("model"), parts);
  if (file.has("normalizer")) read_normalizer(file.at("normalizer"), parts);
  read_pre_tokenizer(file.at("pre_tokenizer"), parts);
  read_decoder(file.at("decoder"));
  if (file.has("added_tokens")) {
    const Place added = file.at("added_tokens");
    for (std::size_t i = 0; i < added.array().json.size(); ++i)
      parts.added.push_back(read_added(added.at(i), added.at(i).at("id").id()));
  }
  if (file.has("post_processor")) read_post_processor(file.at("post_processor"), parts);
  return parts;
}

ByteLevelParts read_vocabulary_and_merges(const std::string& vocabulary, const std::string& merges,
                                          const std::string& tokenizer_class,
                                          const std::string& name) {
  const Json json = parsed(vocabulary, name);
  ByteLevelParts parts;
  parts.vocabulary = read_vocabulary({json, "'" + name + "'"});
  std::istringstream lines(merges);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.starts_with("#version")) continue;
    if (!read_merge(line, parts.merges))
      throw DataError("line {} of the merges beside '{}' is no pair of tokens", number, name);
  }
  if (tokenizer_class == "Qwen2Tokenizer" || tokenizer_class == "Qwen2TokenizerFast") {
    parts.forms = {"NFC"};
    parts.words.add_cut(Pattern(kQwen2Pattern), Cut::isolated, false);
  } else if (tokenizer_class == "GPT2Tokenizer" || tokenizer_class == "GPT2TokenizerFast") {
    parts.words.add_cut(Pattern(kGpt2Pattern), Cut::isolated, false);
  } else {
    throw DataError(
        "'{}' is of the tokenizer_class '{}', which is not supported without tokenizer.json; "
        "GPT2Tokenizer and Qwen2Tokenizer are",
        name, tokenizer_class);
  }
  mark_added(parts, "<|endoftext|>");
  return parts;
}

std::string tokenizer_class(const std::string& tokenizer_config, const std::string& name) {
  const Json json = parsed(tokenizer_config, name);
  return Place{json, "'" + name + "'"}.text("tokenizer_class", "GPT2Tokenizer");
}

void read_tokenizer_config(const std::string& text, const std::string& name,
                           ByteLevelParts& parts) {
  const Json json = parsed(text, name);
  const Place file{json, "'" + name + "'"};
  if (file.has("added_tokens_decoder")) {
    const Place added = file.at("added_tokens_decoder");
    for (const auto& [id, token] : added.object().json.items()) {
      const Place place{token, added.where + ", '" + id + "'"};
      if (id.empty() || id.size() > 9 || id.find_first_not_of("0123456789") != std::string::npos)
        place.refuse("is under no token id");
      const AddedToken one = read_added(place.object(), static_cast<Token>(std::stol(id)));
      const bool known =
          std::any_of(parts.added.begin(), parts.added.end(),
                      [&](const AddedToken& other) { return other.content == one.content; });
      if (!known) parts.added.push_back(one);
    }
  }
  for (const char* key : {"bos_token", "eos_token", "unk_token", "pad_token", "mask_token"})
    mark_added(parts, content_of(file, key));
  const auto named = [&](const char* key) { return id_of(parts, content_of(file, key)); };
  if (file.truth("add_bos_token", false)) parts.begin = named("bos_token");
  parts.mask = named("mask_token");
  add_end(parts, named("eos_token"));
}

void read_token_ids(const std::string& text, const std::string& name, ByteLevelParts& parts) {
  const Json json = parsed(text, name);
  const Place file{json, "'" + name + "'"};
  if (parts.mask == kNoToken && file.has("mask_token_id"))
    parts.mask = file.at("mask_token_id").id();
  if (!file.has("eos_token_id")) return;
  const Place ends = file.at("eos_token_id");
  if (!ends.json.is_array()) return add_end(parts, ends.id());
  for (std::size_t i = 0; i < ends.json.size(); ++i) add_end(parts, ends.at(i).id());
}

void add_turn_ends(ByteLevelParts& parts) {
  for (const char* end : {"<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|role_end|>"})
    add_end(parts, id_of(parts, end));
}

}  // namespace draftlab
