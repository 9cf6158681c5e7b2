// The trainer `tokenizer` makes a sentencepiece unigram vocabulary with XLNet's nine special ids,
// from text, from the generated stories, or from arithmetic problems, programs and translations.
// The same input gives the same file on any machine.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/config/plugin.h"
#include "core/config/train.h"
#include "plugins/tasks/arithmetic/arithmetic_problems.h"
#include "plugins/tasks/programs/program_problems.h"
#include "plugins/tasks/stories/stories.h"
#include "plugins/tasks/transduction/transductions.h"
#include "plugins/tokenizers/tokenizer.h"
#include "plugins/tokenizers/xlnet_text.h"

namespace draftlab {
namespace {

// Adds every word once more, on a line of its own. The library proposes as pieces only strings that
// are followed by more than one character somewhere, and in a small corpus many a word is always
// followed by a space.
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

// Returns the printable characters, which all become pieces, so that a text with signs that the
// corpus lacks is not all <unk>.
std::string printable() {
  std::string characters;
  for (char c = '!'; c <= '~'; ++c) characters += c;
  return characters;
}

class TokenizerTrainer final : public Trainer {
 public:
  struct Options {
    std::string text;
    std::int64_t stories = 20000, problems = 0, programs = 0, transductions = 0, vocabulary = 1000,
                 most_lines = 1000000;
    double coverage = 0.9995;
    bool split_digits = false;
    void declare(OptionSet& set) {
      set.add("text", &text)
          .help("UTF-8 file to train on, one line a sentence; empty: generated stories.");
      set.add("stories", &stories)
          .in(1, 10000000)
          .help("Generated stories that are trained on when there is no text.");
      set.add("problems", &problems)
          .in(0, 10000000)
          .help(
              "Arithmetic problems that are trained on, instead of stories, when there is no "
              "text.");
      set.add("programs", &programs)
          .in(0, 10000000)
          .help("Programs with their questions that are trained on likewise.");
      set.add("transductions", &transductions)
          .in(0, 10000000)
          .help(
              "Sentences with translations into the invented language that are trained on "
              "likewise.");
      set.add("split_digits", &split_digits).help("Every digit is a piece of its own.");
      set.add("vocabulary", &vocabulary)
          .in(16, 250000)
          .help(
              "The most pieces, the nine special ones included; fewer where the text yields no "
              "more.");
      set.add("coverage", &coverage)
          .in(0.9, 1)
          .help("Share of characters that get a piece of their own; the rest is <unk>.");
      set.add("most_lines", &most_lines)
          .in(1, 100000000)
          .help("Lines taken from the text, evenly spaced.");
    }
  };
  explicit TokenizerTrainer(const Options& options) : options_(options) {}

  void run(const TrainContext& context) override {
    std::vector<std::string> lines =
        !options_.text.empty() ? from_text()
        : options_.problems + options_.programs + options_.transductions > 0
            ? from_problems(context.seed)
            : from_stories(context.seed);
    const std::size_t read = lines.size();
    add_words(lines);
    make_folder(context.out);
    write_whole(context.out + "/spiece.model",
                train_tokenizer(lines, {options_.vocabulary, options_.coverage, printable(),
                                        options_.split_digits}));
    std::cout << "wrote " << context.out
              << "/spiece.model: " << open_tokenizer(context.out)->vocabulary() << " pieces from "
              << read << " lines\n";
  }

 private:
  std::vector<std::string> from_stories(std::uint64_t seed) const {
    std::vector<std::string> lines;
    for (std::int64_t i = 0; i < options_.stories; ++i)
      lines.push_back(clean_text(make_story(seed, i).text()));
    return lines;
  }
  std::vector<std::string> from_problems(std::uint64_t seed) const {
    std::vector<std::string> lines;
    for (std::int64_t i = 0; i < options_.problems; ++i) {
      const Problem problem = make_problem(seed, i, ProblemSplit::train);
      lines.push_back(clean_text(problem.question));
      lines.push_back(clean_text(problem.worked));
    }
    for (const ProgramProblem& problem : make_program_problems(seed, options_.programs)) {
      lines.push_back(clean_text(problem.question));
      lines.push_back(clean_text(problem.answer));
    }
    for (std::int64_t i = 0; i < options_.transductions; ++i) {
      const Transduction made = make_transduction(seed, i, ProblemSplit::train);
      lines.push_back(clean_text(made.source));
      lines.push_back(clean_text(made.target));
    }
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

DRAFTLAB_PLUGIN(trainer, tokenizer) {
  registries.trainers.add<draftlab::TokenizerTrainer>(
      "tokenizer",
      "a sentencepiece unigram vocabulary with XLNet's special ids, from text, stories or "
      "problems");
}
