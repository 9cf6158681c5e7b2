#include "plugins/tokenizers/tokenizer.h"

#include <filesystem>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/tokenizers/levels.h"
#include "plugins/tokenizers/tokenizer_json.h"

namespace draftlab {

namespace {

namespace fs = std::filesystem;

// The most bytes of a tokenizer's file.
constexpr std::size_t kMostBytes = std::size_t{1} << 28;
constexpr const char* kLevels = "levels.json";

// Returns the files of a folder that make its tokenizer; the first of them says which kind it is.
// Returns nothing where there is no tokenizer.
std::vector<std::string> files_of(const std::string& folder) {
  const auto there = [&](const char* name) { return fs::is_regular_file(fs::path(folder) / name); };
  std::vector<std::string> files;
  for (const char* name : {"spiece.model", kLevels})
    if (there(name)) return {name};
  if (there("tokenizer.json"))
    files = {"tokenizer.json"};
  else if (there("vocab.json") && there("merges.txt"))
    files = {"vocab.json", "merges.txt"};
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

bool has_tokenizer(const std::string& folder) { return !files_of(folder).empty(); }

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& folder) {
  const std::vector<std::string> files = files_of(folder);
  if (files.empty()) throw DataError("'{}' has no tokenizer: {}it", folder, kNoTokenizer);
  if (files[0] == kLevels) return open_levels((fs::path(folder) / kLevels).string());
  if (files[0] != "spiece.model") return open_byte_level(folder, files);
  const auto open = reinterpret_cast<Tokenizer* (*)(const std::string&)>(
      module_function("draftlab_sentencepiece", "draftlab_open_tokenizer"));
  return std::unique_ptr<Tokenizer>(open((fs::path(folder) / files[0]).string()));
}

void copy_tokenizer(const std::string& from, const std::string& to) {
  for (const std::string& name : files_of(from)) {
    const std::string source = (fs::path(from) / name).string(),
                      target = (fs::path(to) / name).string();
    std::error_code error;
    if (fs::equivalent(source, target, error)) continue;
    fs::copy_file(source, target, fs::copy_options::overwrite_existing, error);
    if (error) throw OutputError("cannot copy '{}' to '{}': {}", source, target, error.message());
  }
}

std::string train_tokenizer(const std::vector<std::string>& lines, std::int64_t vocabulary,
                            double coverage, const std::string& required, bool split_digits) {
  const auto train =
      reinterpret_cast<void (*)(const std::vector<std::string>&, std::int64_t, double,
                                const std::string&, bool, std::string*, std::string*)>(
          module_function("draftlab_sentencepiece", "draftlab_train_tokenizer"));
  std::string model, error;
  train(lines, vocabulary, coverage, required, split_digits, &model, &error);
  if (!error.empty())
    throw DataError("cannot train a tokenizer of {} pieces: {}", vocabulary, error);
  return model;
}

}  // namespace draftlab
