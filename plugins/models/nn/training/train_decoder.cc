#include "plugins/models/nn/training/train_decoder.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/tasks/arithmetic/arithmetic_problems.h"
#include "plugins/tasks/final_number.h"
#include "plugins/tasks/programs/program_tests.h"
#include "plugins/tasks/stories/stories.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

// A held-out program has as many tests as the task `programs` makes.
constexpr int kTests = 40;

WorkedExample example(const std::string& question, const std::string& worked,
                      const Tokenizer& tokenizer) {
  WorkedExample example{{tokenizer.document_begin()}, 0};
  const auto append = [&](const std::vector<Token>& tokens) {
    example.tokens.insert(example.tokens.end(), tokens.begin(), tokens.end());
  };
  append(tokenizer.encode(question));
  example.prompt = static_cast<int>(example.tokens.size());
  append(tokenizer.encode(worked));
  example.tokens.push_back(tokenizer.separator());
  return example;
}

void add_problems(DecoderCorpus& corpus, const TrainDecoderOptions& options,
                  const Tokenizer& tokenizer, std::uint64_t seed) {
  for (std::int64_t i = 0; i < options.problems; ++i) {
    const Problem problem = make_problem(seed, i, ProblemSplit::train);
    corpus.examples.push_back(example(problem.question, problem.worked, tokenizer));
  }
  HeldOut held_out{"arithmetic", {}, {}};
  std::vector<std::string> numbers;
  for (std::int64_t i = 0; i < options.validate_canvases; ++i) {
    const Problem problem = make_problem(seed, i, ProblemSplit::tune);
    held_out.examples.push_back(example(problem.question, problem.worked, tokenizer));
    numbers.push_back(std::to_string(problem.answer));
  }
  held_out.right = [&tokenizer, numbers](std::size_t index, const std::vector<Token>& answer) {
    return final_number(tokenizer.decode(answer)) == numbers[index];
  };
  corpus.held_out.push_back(held_out);
}

void add_programs(DecoderCorpus& corpus, const TrainDecoderOptions& options,
                  const Tokenizer& tokenizer, std::uint64_t seed) {
  for (std::int64_t i = 0; i < options.programs; ++i) {
    const ProgramProblem problem = make_program_problem(seed, i, ProgramSplit::train);
    corpus.examples.push_back(example(problem.question, problem.answer, tokenizer));
  }
  HeldOut held_out{"programs", {}, {}};
  const auto tested =
      make_tested_programs(seed, options.validate_canvases, kTests, ProgramSplit::tune);
  for (const TestedProgram& one : tested)
    held_out.examples.push_back(example(one.problem.question, one.problem.answer, tokenizer));
  held_out.right = [&tokenizer, tested](std::size_t index, const std::vector<Token>& answer) {
    const Program program = Program::parse(tokenizer.decode(answer));
    return program.ok() && passes(program, tested[index].tests);
  };
  corpus.held_out.push_back(held_out);
}

// A story is all answer: its prompt is the token that documents begin with.
void add_stories(DecoderCorpus& corpus, const TrainDecoderOptions& options,
                 const Tokenizer& tokenizer, std::uint64_t seed) {
  for (const Story& story : make_stories(seed, options.stories, Split::train))
    corpus.examples.push_back(example("", story.text(), tokenizer));
  HeldOut held_out{"stories", {}, {}};
  for (const Story& story : make_stories(seed, options.validate_canvases, Split::validation))
    held_out.examples.push_back(example("", story.text(), tokenizer));
  corpus.held_out.push_back(held_out);
}

}  // namespace

void TrainDecoderOptions::declare(OptionSet& set) {
  set.add("problems", &problems)
      .in(0, 1e8)
      .help("Arithmetic problems of the training split that are trained on.");
  set.add("programs", &programs)
      .in(0, 1e8)
      .help("Programs of the training split that are trained on besides.");
  set.add("stories", &stories)
      .in(0, 1e8)
      .help(
          "Stories of the training split that are trained on besides, each from its begin token.");
  set.add("tokenizer", &tokenizer).help("Folder that holds spiece.model; empty: that of `start`.");
  set.add("start", &start)
      .help("Checkpoint to go on from; empty: random weights of the dimensions below.");
  set.add("model_type", &model_type)
      .help(
          "Family of a model made from scratch: logits for a position stand in its row, or (the "
          "others) in the row before.");
  set.add("layers", &layers).in(1, 200).help("Layers of a model made from scratch.");
  set.add("width", &width).in(2, 65536).help("Width of its hidden states.");
  set.add("heads", &heads).in(1, 1024).help("Attention heads of a model made from scratch.");
  set.add("groups", &groups)
      .in(1, 1024)
      .help("Its heads of keys and values; heads must be a multiple of it.");
  set.add("head", &head).in(2, 65536).help("Width of a head; even.");
  set.add("inner", &inner).in(1, 1000000).help("Width inside its feed-forward blocks.");
  set.add("tied", &tied).help("The embedding is also the head that gives logits.");
  set.add("validate_canvases", &validate_canvases)
      .in(1, 1e6)
      .help("Held-out canvases of a task in a validation loss.");
  TrainingOptions::declare(set);
}

void TrainDecoderOptions::check(const std::string& trainer) const {
  const std::string name = "trainer." + trainer;
  require(!tokenizer.empty() || !start.empty(),
          name + ".tokenizer must name a folder that holds spiece.model");
  require(problems + programs + stories > 0,
          name + " needs problems, programs or stories to train on");
  require(heads % groups == 0, name + ".heads = " + std::to_string(heads) +
                                   " must be a multiple of groups = " + std::to_string(groups));
  require(head % 2 == 0, name + ".head = " + std::to_string(head) + " must be even");
}

void train_decoder(const std::string& trainer, const TrainDecoderOptions& options,
                   const TrainContext& context,
                   const std::function<void(const DecoderCorpus&)>& train) {
  check_run(trainer, context);
  const std::string folder = options.tokenizer.empty() ? options.start : options.tokenizer;
  const auto tokenizer = open_tokenizer(folder);
  DecoderCorpus corpus{{}, {}, tokenizer->vocabulary(), tokenizer->mask(), tokenizer->separator()};
  if (options.problems > 0) add_problems(corpus, options, *tokenizer, context.seed);
  if (options.programs > 0) add_programs(corpus, options, *tokenizer, context.seed);
  if (options.stories > 0) add_stories(corpus, options, *tokenizer, context.seed);
  make_folder(context.out);
  copy_tokenizer(folder, context.out);
  train(corpus);
}

}  // namespace draftlab
