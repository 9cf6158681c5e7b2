// Trainer `tokenizer`: a sentencepiece unigram vocabulary with XLNet's nine special ids, from text or from the generated
// stories. The same input gives the same file on any machine.
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/plugin.h"
#include "core/train.h"
#include "plugins/builtin.h"
#include "plugins/tasks/documents.h"
#include "plugins/tasks/stories.h"
#include "plugins/tokenizers/sentencepiece.h"
#include "plugins/tokenizers/utf8.h"

namespace draftlab {
namespace {

// Hands the library cleaned lines.
class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ >= lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

// Every word once more, on a line of its own. The library proposes as pieces only strings that are followed by more than one
// character somewhere, and in a small corpus many a word is always followed by a space.
void add_words(std::vector<std::string>& lines) {
  std::set<std::string> words;
  for (const std::string& line : lines) {
    std::istringstream stream(line);
    for (std::string word; stream >> word;) {
      const auto letter = [](unsigned char c) { return c >= 0x80 || std::isalnum(c); };
      const auto first = std::find_if(word.begin(), word.end(), letter);
      const auto last = std::find_if(word.rbegin(), word.rend(), letter).base();
      if (first < last) words.insert(std::string(first, last));
    }
  }
  lines.insert(lines.end(), words.begin(), words.end());
}

// So that a text of one's own, with signs that the corpus lacks, is not all <unk>.
std::string printable() {
  std::string characters;
  for (char c = '!'; c <= '~'; ++c) characters += c;
  return characters;
}

void write(const std::string& folder, const std::string& bytes) {
  const std::filesystem::path file = std::filesystem::path(folder) / "spiece.model", partial = file.string() + ".partial";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::ofstream out(partial, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out) std::filesystem::rename(partial, file, error);
  if (!out || error) {
    std::filesystem::remove(partial, error);
    throw OutputError("cannot write '" + file.string() + "'");
  }
}

class TokenizerTrainer final : public Trainer {
 public:
  struct Options {
    std::string text;
    std::int64_t stories = 20000, vocabulary = 1000, most_lines = 1000000;
    double coverage = 0.9995;
    void declare(OptionSet& set) {
      set.add("text", &text).help("UTF-8 file to train on, one line a sentence; empty: generated stories");
      set.add("stories", &stories).in(1, 10000000).help("generated stories to train on when there is no text");
      set.add("vocabulary", &vocabulary).in(16, 250000).help("most pieces, the nine special ones included; fewer where the text yields no more");
      set.add("coverage", &coverage).in(0.9, 1).help("share of characters that get a piece of their own; the rest is <unk>");
      set.add("most_lines", &most_lines).in(1, 100000000).help("lines taken from the text, evenly spaced");
    }
  };
  explicit TokenizerTrainer(const Options& options) : options_(options) {}

  void run(const TrainContext& context) override {
    std::vector<std::string> lines = options_.text.empty() ? from_stories(context.seed) : from_text();
    const std::size_t read = lines.size();
    add_words(lines);
    std::string controls;
    for (int id = 3; id < 9; ++id) controls += std::string(id > 3 ? "," : "") + kSpecialPieces[id];
    Lines iterator(lines);
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        {{"model_type", "unigram"}, {"vocab_size", std::to_string(options_.vocabulary)}, {"hard_vocab_limit", "false"},
         {"character_coverage", std::to_string(options_.coverage)}, {"unk_id", "0"}, {"bos_id", "1"}, {"eos_id", "2"}, {"pad_id", "-1"},
         {"control_symbols", controls}, {"required_chars", printable()}, {"max_sentence_length", "1000000"}, {"num_threads", "4"}, {"minloglevel", "2"}},
        &iterator, &model);
    if (!status.ok())
      throw DataError("cannot train a tokenizer of " + std::to_string(options_.vocabulary) + " pieces on " +
                      (options_.text.empty() ? "the stories" : "'" + options_.text + "'") + ": " + status.error_message());
    write(context.out, model);
    std::cout << "wrote " << context.out << "/spiece.model: " << SentencePieceTokenizer(context.out + "/spiece.model").vocabulary()
              << " pieces from " << read << " lines\n";
  }

 private:
  std::vector<std::string> from_stories(std::uint64_t seed) const {
    std::vector<std::string> lines;
    for (std::int64_t i = 0; i < options_.stories; ++i) lines.push_back(clean_text(make_story(seed, i).text()));
    return lines;
  }
  std::vector<std::string> from_text() const {
    const std::vector<std::string> all = read_lines(options_.text);
    const std::size_t stride = (all.size() + options_.most_lines - 1) / options_.most_lines;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < all.size(); i += stride) lines.push_back(clean_text(all[i]));
    return lines;
  }
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(train_tokenizer) {
  registries.trainers.add<draftlab::TokenizerTrainer>("tokenizer", "a sentencepiece unigram vocabulary with XLNet's special ids, from text or from generated stories");
}
