#include "plugins/tokenizers/tokenizer.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/config/plugin.h"
#include "plugins/tokenizers/bytes.h"
#include "plugins/tokenizers/levels.h"
#include "plugins/tokenizers/llama2c_tokenizer.h"
#include "plugins/tokenizers/tokenizer_json.h"

namespace draftlab {

namespace {

namespace fs = std::filesystem;

// The most bytes of a tokenizer's file.
constexpr std::size_t kMostBytes = std::size_t{1} << 28;
constexpr const char* kLevels = "levels.json";

constexpr const char* kLlama2c = "tokenizer.bin";

// Says whether a checkpoint is a file of llama2.c and not a folder.
bool is_file(const std::string& checkpoint) { return fs::is_regular_file(checkpoint); }

// Returns the folder of a checkpoint's tokenizer.
fs::path home_of(const std::string& checkpoint) {
  return is_file(checkpoint) ? fs::path(checkpoint).parent_path() : fs::path(checkpoint);
}

// Says whether a file begins as those of llama2.c do: seven whole numbers, none of them huge. A
// plugin's model may be a file of another kind.
bool is_llama2c(const std::string& path) {
  std::int32_t header[7];
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(header), sizeof header)) return false;
  return std::all_of(std::begin(header), std::end(header), [](std::int32_t number) {
    return std::abs(static_cast<std::int64_t>(number)) <= 1 << 24;
  });
}

// Returns what the vocabulary beside a file of llama2.c is called.
std::string own_vocabulary(const std::string& checkpoint) {
  return "tok" + std::to_string(llama2c_vocabulary(checkpoint)) + ".bin";
}

// Returns the files of a folder that make its tokenizer; the first of them says which kind it is.
// Returns nothing where there is no tokenizer.
std::vector<std::string> files_of(const std::string& checkpoint) {
  const fs::path folder = home_of(checkpoint);
  const auto there = [&](const std::string& name) { return fs::is_regular_file(folder / name); };
  if (is_file(checkpoint)) {
    if (!is_llama2c(checkpoint)) return {};
    for (const std::string& name : {own_vocabulary(checkpoint), std::string(kLlama2c)})
      if (there(name)) return {name};
    return {};
  }
  std::vector<std::string> files;
  for (const char* name : {"spiece.model", kLevels})
    if (there(name)) return {name};
  if (there("tokenizer.json"))
    files = {"tokenizer.json"};
  else if (there("vocab.json") && there("merges.txt"))
    files = {"vocab.json", "merges.txt"};
  else if (there(kLlama2c))
    return {kLlama2c};
  if (!files.empty() && there("tokenizer_config.json")) files.push_back("tokenizer_config.json");
  return files;
}

std::unique_ptr<Tokenizer> open_byte_level(const std::string& folder,
                                           const std::vector<std::string>& files) {
  const auto path = [&](const std::string& name) { return (fs::path(folder) / name).string(); };
  const auto read = [&](const std::string& name) { return read_utf8(path(name), kMostBytes); };
  const bool configured = files.back() == "tokenizer_config.json";
  const std::string config = configured ? read("tokenizer_config.json") : "{}";
  ByteLevelParts parts =
      files[0] == "tokenizer.json"
          ? read_tokenizer_json(read(files[0]), path(files[0]))
          : read_vocabulary_and_merges(read(files[0]), read(files[1]),
                                       tokenizer_class(config, path("tokenizer_config.json")),
                                       path(files[0]));
  read_tokenizer_config(config, path("tokenizer_config.json"), parts);
  for (const char* name : {"config.json", "generation_config.json"})
    if (fs::is_regular_file(path(name))) read_token_ids(read(name), path(name), parts);
  add_turn_ends(parts);
  return std::make_unique<ByteLevelTokenizer>(std::move(parts), path(files[0]));
}

}  // namespace

std::string missing_tokenizer(const std::string& checkpoint) {
  if (is_file(checkpoint) && !is_llama2c(checkpoint))
    return "'" + checkpoint +
           "' is a file, and a tokenizer lies in the folder of a checkpoint, or beside a file of "
           "llama2.c";
  if (is_file(checkpoint))
    return "there is neither " + own_vocabulary(checkpoint) + " nor " + kLlama2c + " beside '" +
           checkpoint + "'";
  return "there is neither spiece.model, nor levels.json, nor tokenizer.json, nor vocab.json and "
         "merges.txt in '" +
         checkpoint + (fs::is_directory(checkpoint) ? "'" : "', which is no folder");
}

bool has_tokenizer(const std::string& checkpoint) {
  return has_bytes(checkpoint) || !files_of(checkpoint).empty();
}

std::string tokenizer_digest(const std::string& checkpoint) {
  std::string text;
  if (has_bytes(checkpoint)) return text;
  for (const std::string& name : files_of(checkpoint)) {
    const std::string path = (home_of(checkpoint) / name).string();
    const auto compute = [&] {
      std::ifstream in(path, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(in), {});
      if (!in) throw DataError("'{}' cannot be read", path);
      return sha256(bytes).substr(0, 16);
    };
    text += (text.empty() ? "" : "+") + digest_once(path, compute);
  }
  return text;
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& checkpoint) {
  if (has_bytes(checkpoint)) return make_bytes();
  const std::vector<std::string> files = files_of(checkpoint);
  if (files.empty())
    throw DataError("'{}' has no tokenizer: {}", checkpoint, missing_tokenizer(checkpoint));
  const std::string folder = home_of(checkpoint).string();
  if (files[0].ends_with(".bin")) {
    auto tokenizer = std::make_unique<Llama2cTokenizer>((fs::path(folder) / files[0]).string());
    if (const int wanted = is_file(checkpoint) ? llama2c_vocabulary(checkpoint) : 0;
        wanted > 0 && wanted != tokenizer->vocabulary())
      throw DataError("'{}' has {} pieces, and '{}' {} tokens",
                      (fs::path(folder) / files[0]).string(), tokenizer->vocabulary(), checkpoint,
                      wanted);
    return tokenizer;
  }
  if (files[0] == kLevels) return open_levels((fs::path(folder) / kLevels).string());
  if (files[0] != "spiece.model") return open_byte_level(folder, files);
  const auto open = reinterpret_cast<Tokenizer* (*)(const std::string&)>(
      module_function("draftlab_sentencepiece", "draftlab_open_tokenizer"));
  return std::unique_ptr<Tokenizer>(open((fs::path(folder) / files[0]).string()));
}

void copy_tokenizer(const std::string& from, const std::string& to) {
  for (const std::string& name : files_of(from)) {
    const std::string source = (home_of(from) / name).string(),
                      target = (fs::path(to) / (name.ends_with(".bin") ? kLlama2c : name)).string();
    std::error_code error;
    if (fs::equivalent(source, target, error)) continue;
    fs::copy_file(source, target, fs::copy_options::overwrite_existing, error);
    if (error) throw OutputError("cannot copy '{}' to '{}': {}", source, target, error.message());
  }
}

std::string train_tokenizer(const std::vector<std::string>& lines,
                            const UnigramVocabulary& vocabulary) {
  const auto train = reinterpret_cast<void (*)(
      const std::vector<std::string>&, const UnigramVocabulary&, std::string*, std::string*)>(
      module_function("draftlab_sentencepiece", "draftlab_train_tokenizer"));
  std::string model, error;
  train(lines, vocabulary, &model, &error);
  if (!error.empty())
    throw DataError("cannot train a tokenizer of {} pieces: {}", vocabulary.pieces, error);
  return model;
}

}  // namespace draftlab
