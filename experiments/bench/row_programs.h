// What `draftlab bench rows` measures: a model that keeps the rows of a prompt and answers some
// more behind them, by draftlab or by llama.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config/plugin.h"
#include "experiments/bench/bench.h"
#include "experiments/bench/llama_library.h"

namespace draftlab {

class RowProgram {
 public:
  virtual ~RowProgram() = default;
  // Answers `rows` rows, the last token of the prompt and drafts behind it that differ from round
  // to round, and returns the process time in seconds.
  virtual double answer(std::int64_t rows, std::int64_t round) = 0;
  // Returns the logarithms of the probabilities that row `row` of the last answer gives to all
  // tokens.
  virtual std::vector<double> log_probabilities(std::int64_t row) const = 0;
  // The number of weights, where the program knows it; 0 elsewhere.
  virtual std::int64_t parameters() const { return 0; }
};

// The rows that are answered at once at most.
inline constexpr std::int64_t kMostRows = 16;

// Which checkpoint is asked, in which type of numbers (f32, bf16, q8 or q4), and how many tokens
// its prompt has.
struct RowsOf {
  std::string folder, dtype;
  std::int64_t prompt = 0;
};

// Returns the checkpoint's model in run.dtype = `dtype`, of whatever precision the command line is.
std::unique_ptr<RowProgram> own_program(const RowsOf& rows, const CommandLine& line,
                                        const Registries& registries);

// Returns the same checkpoint's model in the type of numbers that is the nearest to `dtype`, as
// llama.cpp computes it.
std::unique_ptr<RowProgram> llama_program(const LlamaLibrary& library, const RowsOf& rows);

}  // namespace draftlab
