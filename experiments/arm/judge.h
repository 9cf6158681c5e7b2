// Generative perplexity: how probable a causal model finds a decoded text (ASSD, Eq. 21).
#pragma once

#include <memory>
#include <string>

#include "core/loop/decoder.h"
#include "core/parts/task.h"

namespace draftlab {

class Judge {
 public:
  // Loads the model and the tokenizer of its checkpoint. Throws ConfigError when it has no
  // tokenizer.
  Judge(const Factory<Model>& bound, const Machine& machine, Loaded& loaded);

  struct Score {
    // The negative log-likelihood in nats, summed over tokens.
    double nll = 0;
    // The number of tokens of the judge's own tokenizer, at most kLongest.
    std::int64_t tokens = 0;
  };
  // So many tokens of a text are judged, as in the paper.
  static constexpr int kLongest = 960;
  Score score(const std::string& text) const;

 private:
  std::shared_ptr<Model> model_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace draftlab
