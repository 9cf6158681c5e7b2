#include "experiments/bench/row_programs.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "core/base/error.h"
#include "core/config/composition.h"
#include "core/loop/load_models.h"
#include "plugins/models/bench/gguf_checkpoint.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {
namespace {

// Process time is what this program was given of a machine that others use, too.
double process_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Token prompt_token(std::int64_t position, std::int64_t vocabulary) {
  return static_cast<Token>((position * 7919 + 11) % vocabulary);
}

// The token of a draft that stands `index` behind the prompt.
Token draft_token(std::int64_t index, std::int64_t round, std::int64_t vocabulary) {
  return static_cast<Token>((17 * index + 5 * round + 3) % vocabulary);
}

class OwnProgram final : public RowProgram {
 public:
  OwnProgram(std::shared_ptr<Model> model, std::int64_t prompt)
      : model_(std::move(model)),
        prompt_(prompt),
        canvas_(static_cast<int>(prompt + kMostRows), given(prompt, vocabulary())),
        sequence_(model_->open(canvas_, {})) {
    // The prompt's rows are kept from here on.
    answer_rows(1, 0, prompt);
  }
  double answer(std::int64_t rows, std::int64_t round) override {
    return answer_rows(rows, round, rows);
  }
  std::vector<double> log_probabilities(std::int64_t row) const override {
    const Distribution& all =
        answer_.at(static_cast<int>(row) - 1, static_cast<std::int32_t>(prompt_ + row));
    std::vector<double> logs(all.size());
    for (int token = 0; token < all.size(); ++token) logs[token] = all.log_probability(token);
    return logs;
  }
  std::int64_t parameters() const override { return model_->facts().parameters; }

 private:
  static std::vector<std::pair<std::int32_t, Token>> given(std::int64_t prompt,
                                                           std::int64_t vocabulary) {
    std::vector<std::pair<std::int32_t, Token>> tokens;
    for (std::int64_t i = 0; i < prompt; ++i)
      tokens.emplace_back(static_cast<std::int32_t>(i), prompt_token(i, vocabulary));
    return tokens;
  }
  std::int64_t vocabulary() const { return model_->facts().vocabulary; }

  double answer_rows(std::int64_t rows, std::int64_t round, std::int64_t computed) {
    Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
    for (int i = 0; i < rows; ++i) {
      const auto position = static_cast<std::int32_t>(prompt_ + i);
      question.asks.push_back({i - 1, {position}});
      if (i + 1 < rows)
        question.nodes.push_back({i - 1, position, draft_token(i, round, vocabulary())});
    }
    const std::int64_t before = sequence_->counts()[Kind::verify].positions;
    answer_ = {};
    Pending pending{sequence_.get(), &question, &answer_};
    const double began = process_seconds();
    model_->answer({&pending, 1});
    const double taken = process_seconds() - began;
    if (sequence_->counts()[Kind::verify].positions - before != computed)
      throw Fault("the forward had other rows than the benchmark counts");
    return taken;
  }

  std::shared_ptr<Model> model_;
  std::int64_t prompt_;
  Canvas canvas_;
  std::unique_ptr<Sequence> sequence_;
  Answer answer_;
};

class LlamaProgram final : public RowProgram {
 public:
  LlamaProgram(const LlamaLibrary& library, const std::string& path, std::int64_t prompt,
               std::int64_t vocabulary)
      : model_(library, path), prompt_(prompt), vocabulary_(vocabulary) {
    if (prompt + kMostRows > model_.room())
      throw UsageError("--bench.prompt {} is more than the {} tokens that llama.cpp has room for",
                       prompt, model_.room() - kMostRows);
    std::vector<Token> tokens;
    for (std::int64_t i = 0; i + 1 < prompt; ++i) tokens.push_back(prompt_token(i, vocabulary));
    if (!tokens.empty()) model_.append(0, tokens);
  }
  double answer(std::int64_t rows, std::int64_t round) override {
    const auto last = static_cast<std::int32_t>(prompt_ - 1);
    std::vector<Token> tokens{prompt_token(last, vocabulary_)};
    for (std::int64_t i = 0; i + 1 < rows; ++i)
      tokens.push_back(draft_token(i, round, vocabulary_));
    model_.forget(last);
    const double began = process_seconds();
    model_.append(last, tokens);
    return process_seconds() - began;
  }
  std::vector<double> log_probabilities(std::int64_t row) const override {
    const float* const logits = model_.logits(static_cast<std::int32_t>(row));
    std::vector<double> logs(logits, logits + vocabulary_);
    const double most = *std::max_element(logs.begin(), logs.end());
    double sum = 0;
    for (const double logit : logs) sum += std::exp(logit - most);
    for (double& logit : logs) logit -= most + std::log(sum);
    return logs;
  }

 private:
  LlamaModel model_;
  std::int64_t prompt_, vocabulary_;
};

GgufType type_of(const std::string& dtype) {
  return dtype == "f32"    ? GgufType::f32
         : dtype == "bf16" ? GgufType::bf16
         : dtype == "q8"   ? GgufType::q8_0
                           : GgufType::q4_0;
}

}  // namespace

std::unique_ptr<RowProgram> own_program(const RowsOf& rows, const CommandLine& line,
                                        const Registries& registries) {
  CommandLine with_dtype = line;
  with_dtype.overrides.emplace_back("run.dtype", rows.dtype);
  const Composition composition = compose_bench(
      {.text = "model = autoregressive\ndrafter = stepwise\nfrontier = left-to-right\n"
               "task = positions\n[task.positions]\nlength = 2\nprompt = 0:1\n"
               "[run]\nthreads = 1\n",
       .settings = {{"model.autoregressive.checkpoint", rows.folder, "bench"}}},
      with_dtype, registries);
  Loaded models;
  return std::make_unique<OwnProgram>(
      load_models(composition, composition.run.machine, models).models[0], rows.prompt);
}

std::unique_ptr<RowProgram> llama_program(const LlamaLibrary& library, const RowsOf& rows) {
  const std::string path = rows.folder + "/" + rows.dtype + ".gguf";
  write_gguf(rows.folder, type_of(rows.dtype), path);
  auto program = std::make_unique<LlamaProgram>(library, path, rows.prompt,
                                                TransformerConfig::read(rows.folder).vocab_size);
  // llama.cpp has the file in its memory.
  std::filesystem::remove(path);
  return program;
}

}  // namespace draftlab
