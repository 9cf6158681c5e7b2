// The trainer `any-subset` trains an any-subset autoregressive model on text (ASSD, Sec. 6 and
// Appendix E).
#include "plugins/models/xlnet/train_any_subset.h"

#include <cmath>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"
#include "plugins/tasks/programs/program_problems.h"
#include "plugins/tasks/stories/stories.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {

void TrainAnySubsetOptions::declare(OptionSet& set) {
  set.add("text", &text).help("UTF-8 file to train on; empty: generated stories.");
  set.add("documents", &documents)
      .help(
          "What a document of the text is: a line, a paragraph, a row of a CSV file, a line of "
          "JSON.");
  set.add("field", &field)
      .help("Column of the CSV file, or key of the JSON lines, that holds the documents.");
  set.add("stories", &stories)
      .in(0, 1e8)
      .help("Generated stories that are trained on when there is no text.");
  set.add("programs", &programs)
      .in(0, 1e8)
      .help(
          "Generated programs, each behind the sentence that asks for it, that are trained on "
          "besides when there is no text.");
  set.add("tokenizer", &tokenizer).help("Folder that holds spiece.model; empty: that of `start`.");
  set.add("holdout", &holdout)
      .in(0.0001, 0.5)
      .help(
          "Share of the documents of a text that only validation sees, every n-th; generated "
          "stories and programs have a split of their own.");
  set.add("packing", &packing)
      .help(
          "How documents are packed into one stream: <sep> after each, and <s> before a canvas "
          "(separated); or <sep><cls></s> after each and nothing before a canvas, as ASSD's "
          "authors pack for XLNet.");
  set.add("white_space", &white_space)
      .help(
          "White space as the tokenizer has it (own), or <cls>, <sep> and <unk> for line ends, "
          "tabs and two spaces (xlnet), for code whose lines a tokenizer would lose.");
  set.add("align", &align)
      .help("Every canvas begins with a document instead of anywhere in the text.");
  set.add("start", &start)
      .help("Checkpoint to go on from; empty or none: random weights of the dimensions below.");
  set.add("layers", &layers).in(1, 200).help("Layers of a model made from scratch.");
  set.add("width", &width).in(2, 65536).help("Width of its hidden states; a multiple of heads.");
  set.add("heads", &heads).in(1, 1024).help("Its attention heads.");
  set.add("inner", &inner).in(1, 1000000).help("Width inside its feed-forward blocks.");
  set.add("order", &order)
      .help("Order of the generated positions: ascending (the lattice), or shuffled (ablation).");
  set.add("mask_start", &mask_start).in(0, 1).help("Mask rate before the warm-up of the mask.");
  set.add("mask_min", &mask_min).in(0, 1).help("Lowest share of masked positions.");
  set.add("mask_max", &mask_max)
      .in(0, 1)
      .help("Highest share of masked positions; 1 leaves only the begin token.");
  set.add("mask_warmup", &mask_warmup)
      .in(0, 1e12)
      .help("Steps over which the mask rates widen from mask_start.");
  set.add("share_prefix", &share_prefix)
      .in(0, 1)
      .help(
          "Share of canvases whose prompt is a prefix; with mask_min = mask_max = 1 a causal "
          "model.");
  set.add("share_spans", &share_spans)
      .in(0, 1)
      .help(
          "Share of canvases of which one to three contiguous spans are masked; the rest is "
          "scattered.");
  set.add("share_ahead", &share_ahead)
      .in(0, 1)
      .help(
          "Share of the scored tokens that are asked early, as a draft asks them; a model from "
          "scratch needs it to draft well.");
  set.add("most_ahead", &most_ahead)
      .in(1, 65536)
      .help("The most ranks by which such a token is asked early: draft_length - 1.");
  set.add("length", &length).in(2, 65536).help("Tokens of a canvas.");
  set.add("validate_canvases", &validate_canvases)
      .in(1, 1e6)
      .help("Held-out canvases of a validation loss.");
  TrainingOptions::declare(set);
}

DocumentFormat document_format(const TrainAnySubsetOptions& options, const Tokenizer& tokenizer) {
  DocumentFormat format = separated(tokenizer);
  if (options.white_space == WhiteSpace::xlnet)
    format.encode = [&](const std::string& text) { return encode_code(tokenizer, text); };
  // These are XLNet's ids of <sep><cls></s>.
  if (options.packing == DocumentEnds::xlnet) format.end = {4, 3, 2}, format.begin.clear();
  return format;
}

std::pair<TrainingCorpus, TrainingCorpus> generated_corpora(const TrainAnySubsetOptions& options,
                                                            const Tokenizer& tokenizer,
                                                            std::uint64_t seed) {
  // Of each kind that is trained on, so many documents validate.
  constexpr std::int64_t kValidate = 500;
  const auto corpus = [&](const std::vector<Story>& stories,
                          const std::vector<ProgramProblem>& programs) {
    std::vector<std::string> texts;
    for (const Story& story : stories) texts.push_back(story.text());
    for (const ProgramProblem& made : programs) texts.push_back(made.text());
    return TrainingCorpus(texts, document_format(options, tokenizer));
  };
  return {corpus(make_stories(seed, options.stories, Split::train),
                 make_program_problems(seed, options.programs, ProgramSplit::train)),
          corpus(make_stories(seed, options.stories > 0 ? kValidate : 0, Split::validation),
                 make_program_problems(seed, options.programs > 0 ? kValidate : 0,
                                       ProgramSplit::tune))};
}

namespace {

class AnySubsetTrainer final : public Trainer {
 public:
  using Options = TrainAnySubsetOptions;
  explicit AnySubsetTrainer(const Options& options) : options_(options) {
    // The word `none` is a value that a list of an axis can hold, which the empty text is not.
    if (options_.start == "none") options_.start.clear();
    require(!options_.text.empty() || options_.stories + options_.programs > 0,
            "a corpus is needed: text names a file, or stories or programs is more than 0");
    require(!options_.tokenizer.empty() || !options_.start.empty(),
            "tokenizer must name a folder that holds spiece.model");
    require(options_.width % options_.heads == 0,
            "width = " + std::to_string(options_.width) +
                " must be a multiple of heads = " + std::to_string(options_.heads));
    require(options_.mask_min <= options_.mask_max, "mask_min must not exceed mask_max");
    require(options_.share_prefix + options_.share_spans <= 1,
            "share_prefix and share_spans must not exceed 1 together");
  }

  void run(const TrainContext& context) override {
    const std::string folder = options_.tokenizer.empty() ? options_.start : options_.tokenizer;
    check_run("any-subset", context);
    const auto tokenizer = open_tokenizer(folder);
    const auto [corpus, held_out] = corpora(*tokenizer, context.seed);
    for (const TrainingCorpus* half : {&corpus, &held_out})
      if (half->tokens() < options_.length)
        throw DataError(
            "{}{} tokens and {} held-out ones: each must be at least trainer.any-subset.length = "
            "{}",
            options_.text.empty() ? "the generated texts have " : "'" + options_.text + "' has ",
            corpus.tokens(), held_out.tokens(), options_.length);
    const auto train =
        torch_function<decltype(draftlab_train_any_subset)>("draftlab_train_any_subset");
    make_folder(context.out);
    copy_tokenizer(folder, context.out);
    train({options_, corpus, held_out, tokenizer->vocabulary()}, context);
  }

 private:
  // Returns the corpus that is trained on and the one that validates.
  std::pair<TrainingCorpus, TrainingCorpus> corpora(const Tokenizer& tokenizer,
                                                    std::uint64_t seed) const {
    if (!options_.text.empty())
      return split_corpus(documents(), std::llround(1 / options_.holdout),
                          document_format(options_, tokenizer));
    return generated_corpora(options_, tokenizer, seed);
  }
  std::vector<std::string> documents() const {
    if (options_.documents == TextUnit::lines) return read_lines(options_.text);
    if (options_.documents == TextUnit::paragraphs) return read_paragraphs(options_.text);
    if (options_.documents == TextUnit::jsonl) return read_jsonl(options_.text, options_.field);
    const CsvTable table = read_csv(options_.text);
    const std::size_t column = table.column(options_.field);
    std::vector<std::string> documents;
    for (const auto& row : table.rows) documents.push_back(row[column]);
    return documents;
  }
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(trainer, any_subset) {
  registries.trainers.add<draftlab::AnySubsetTrainer>(
      "any-subset",
      "an any-subset autoregressive model (XLNet), from text or from generated stories");
}
