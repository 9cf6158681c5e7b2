// Trainer `block-diffusion`: a decoder that denoises blocks, and tells one token at a time (S2D2, BD3-LM).
#include "plugins/models/train_block_diffusion.h"

#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/arithmetic_problems.h"
#include "plugins/tasks/program_problems.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {

void TrainBlockDiffusionOptions::declare(OptionSet& set) {
  set.add("problems", &problems).in(0, 1e8).help("arithmetic problems of the training split to train on");
  set.add("programs", &programs).in(0, 1e8).help("programs of the training split to train on, besides");
  set.add("tokenizer", &tokenizer).help("folder that holds spiece.model; empty: that of `start`");
  set.add("start", &start).help("checkpoint to go on from; empty: random weights of the dimensions below");
  set.add("model_type", &model_type).one_of({"sdar", "Fast_dLLM_Qwen"}).help("family of a model made from scratch: logits for a position stand in its row, or (Fast-dLLM v2) in the row before");
  set.add("layers", &layers).in(1, 200).help("layers of a model made from scratch");
  set.add("width", &width).in(2, 65536).help("width of its hidden states");
  set.add("heads", &heads).in(1, 1024).help("its attention heads");
  set.add("groups", &groups).in(1, 1024).help("its heads of keys and values; heads must be a multiple of it");
  set.add("head", &head).in(2, 65536).help("width of a head; even");
  set.add("inner", &inner).in(1, 1000000).help("width inside its feed-forward blocks");
  set.add("tied", &tied).help("its head is its embedding");
  set.add("block_size", &block_size).in(1, 4096).help("tokens of a block; blocks begin at multiples of it");
  set.add("causal_share", &causal_share).in(0, 1).help("share of canvases with blocks of one token, all masked: autoregressive");
  set.add("warm_steps", &warm_steps).in(0, 1e12).help("first steps, of which every canvas is autoregressive");
  set.add("mask_min", &mask_min).in(0, 1).help("lowest mask rate t of a block; drawn evenly up to 1");
  set.add("inverse_weight", &inverse_weight).help("weigh the loss of a masked token by 1/t, which makes it a bound of the likelihood; false: all alike");
  set.add("validate_canvases", &validate_canvases).in(1, 1e6).help("held-out canvases of a task in a validation loss");
  set.add("validate_answers", &validate_answers).in(0, 1e6).help("of these, how many a validation answers one token at a time, greedily and sampled");
  TrainingOptions::declare(set);
}

namespace {

constexpr int kTests = 40;  // of a held-out program, as many as task `programs` makes

class BlockDiffusionTrainer final : public Trainer {
 public:
  using Options = TrainBlockDiffusionOptions;
  explicit BlockDiffusionTrainer(const Options& options) : options_(options) {
    const auto require = [](bool holds, const std::string& rule) { if (!holds) throw ConfigError(rule); };
    require(!options_.tokenizer.empty() || !options_.start.empty(), "trainer.block-diffusion.tokenizer must name a folder that holds spiece.model");
    require(options_.problems + options_.programs > 0, "trainer.block-diffusion needs problems or programs to train on");
    require(options_.validate_answers <= options_.validate_canvases, "trainer.block-diffusion.validate_answers must not exceed validate_canvases");
    require(options_.heads % options_.groups == 0, "trainer.block-diffusion.heads = " + std::to_string(options_.heads) +
                                                        " must be a multiple of groups = " + std::to_string(options_.groups));
    require(options_.head % 2 == 0, "trainer.block-diffusion.head = " + std::to_string(options_.head) + " must be even");
  }

  void run(const TrainContext& context) override {
    const std::string folder = options_.tokenizer.empty() ? options_.start : options_.tokenizer;
    if (context.machine.device != "cpu") throw ConfigError("run.device = " + context.machine.device + ": trainer.block-diffusion runs on cpu only");
    const auto tokenizer = open_tokenizer(folder);
    if (!context.resume && std::filesystem::exists(context.out + "/training.safetensors"))
      throw OutputError("'" + context.out + "' holds a training already: --resume goes on with it, or --out names another folder");
    const auto train = reinterpret_cast<TrainBlockDiffusion>(module_function("draftlab_torch", "draftlab_train_block_diffusion"));
    TrainBlockDiffusionJob job{options_, {}, {}, tokenizer->vocabulary(), tokenizer->mask(), tokenizer->separator()};
    if (options_.problems > 0) add_problems(job, *tokenizer, context.seed);
    if (options_.programs > 0) add_programs(job, *tokenizer, context.seed);
    make_folder(context.out);
    copy_tokenizer(folder, context.out);
    train(job, context);
  }

 private:
  void add_problems(TrainBlockDiffusionJob& job, const Tokenizer& tokenizer, std::uint64_t seed) const {
    for (std::int64_t i = 0; i < options_.problems; ++i) {
      const Problem problem = make_problem(seed, i, ProblemSplit::train);
      job.examples.push_back(example(problem.question, problem.worked, tokenizer));
    }
    HeldOut held_out{"arithmetic", {}, {}};
    std::vector<std::string> numbers;
    for (std::int64_t i = 0; i < options_.validate_canvases; ++i) {
      const Problem problem = make_problem(seed, i, ProblemSplit::tune);
      held_out.examples.push_back(example(problem.question, problem.worked, tokenizer));
      numbers.push_back(std::to_string(problem.answer));
    }
    held_out.right = [&tokenizer, numbers](std::size_t index, const std::vector<Token>& answer) {
      return final_number(tokenizer.decode(answer)) == numbers[index];
    };
    job.held_out.push_back(held_out);
  }

  void add_programs(TrainBlockDiffusionJob& job, const Tokenizer& tokenizer, std::uint64_t seed) const {
    for (std::int64_t i = 0; i < options_.programs; ++i) {
      const ProgramProblem problem = make_program_problem(seed, i, ProgramSplit::train);
      job.examples.push_back(example(problem.question, problem.answer, tokenizer));
    }
    HeldOut held_out{"programs", {}, {}};
    const auto tested = make_tested_programs(seed, options_.validate_canvases, kTests, ProgramSplit::tune);
    for (const TestedProgram& one : tested) held_out.examples.push_back(example(one.problem.question, one.problem.answer, tokenizer));
    held_out.right = [&tokenizer, tested](std::size_t index, const std::vector<Token>& answer) {
      const Program program = Program::parse(tokenizer.decode(answer));
      return program.ok() && passes(program, tested[index].tests);
    };
    job.held_out.push_back(held_out);
  }

  static WorkedExample example(const std::string& question, const std::string& worked, const Tokenizer& tokenizer) {
    WorkedExample example{{tokenizer.begin()}, 0};
    const auto append = [&](const std::vector<Token>& tokens) { example.tokens.insert(example.tokens.end(), tokens.begin(), tokens.end()); };
    append(tokenizer.encode(question));
    example.prompt = static_cast<int>(example.tokens.size());
    append(tokenizer.encode(worked));
    example.tokens.push_back(tokenizer.separator());
    return example;
  }
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(train_block_diffusion) {
  registries.trainers.add<draftlab::BlockDiffusionTrainer>("block-diffusion", "a decoder that denoises block by block (SDAR, Fast-dLLM v2), from problems and programs");
}
