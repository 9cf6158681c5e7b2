#include "plugins/tokenizers/tokenizer.h"

#include <filesystem>

#include "core/error.h"
#include "core/plugin.h"

namespace draftlab {

namespace {
std::string file_in(const std::string& folder) { return (std::filesystem::path(folder) / "spiece.model").string(); }
}  // namespace

bool has_tokenizer(const std::string& folder) { return std::filesystem::is_regular_file(file_in(folder)); }

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& folder) {
  if (!has_tokenizer(folder)) throw DataError("'" + folder + "' has no tokenizer: there is no spiece.model in it");
  const auto open = reinterpret_cast<Tokenizer* (*)(const std::string&)>(module_function("draftlab_sentencepiece", "draftlab_open_tokenizer"));
  return std::unique_ptr<Tokenizer>(open(file_in(folder)));
}

void copy_tokenizer(const std::string& from, const std::string& to) {
  const std::string source = file_in(from), target = file_in(to);
  std::error_code error;
  if (std::filesystem::equivalent(source, target, error)) return;
  std::filesystem::copy_file(source, target, std::filesystem::copy_options::overwrite_existing, error);
  if (error) throw OutputError("cannot copy '" + source + "' to '" + target + "': " + error.message());
}

std::string train_tokenizer(const std::vector<std::string>& lines, std::int64_t vocabulary, double coverage,
                            const std::string& required, bool split_digits) {
  const auto train = reinterpret_cast<void (*)(const std::vector<std::string>&, std::int64_t, double, const std::string&, bool, std::string*, std::string*)>(
      module_function("draftlab_sentencepiece", "draftlab_train_tokenizer"));
  std::string model, error;
  train(lines, vocabulary, coverage, required, split_digits, &model, &error);
  if (!error.empty()) throw DataError("cannot train a tokenizer of " + std::to_string(vocabulary) + " pieces: " + error);
  return model;
}

}  // namespace draftlab
