// Generative perplexity: how probable a causal model finds a decoded text (ASSD, Eq. 21).
#pragma once

#include <memory>
#include <string>

#include "core/loop/decoder.h"
#include "core/parts/task.h"

namespace draftlab {

class Judge {
 public:
  // Loads the model and the tokenizer of its checkpoint; ConfigError when it has none.
  Judge(const Bound<Model>& bound, const Machine& machine, Loaded& loaded);

  struct Score {
    double nll = 0;           // nats, summed over tokens
    std::int64_t tokens = 0;  // of the judge's own tokenizer, at most kLongest
  };
  static constexpr int kLongest = 960;  // tokens judged of a text, as in the paper
  Score score(const std::string& text) const;

 private:
  std::shared_ptr<Model> model_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace draftlab
