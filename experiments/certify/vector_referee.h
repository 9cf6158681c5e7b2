// Asks the target anew about the vectors that a decode committed.
#pragma once

#include <vector>

#include "core/config/composition.h"
#include "core/loop/decoder.h"

namespace draftlab {

// The tokens that were committed in one decode.
struct Decoded {
  struct Token {
    Commit commit;
    int step;
  };
  std::vector<Token> tokens;
};

class Referee {
 public:
  Referee(const Composition& composition, const Prompt& prompt, Model& target);

  // Appends the standard normals of each token of a decode, token after token, y_K first; there are
  // fewer where a token's states are not known.
  void innovations(const Decoded& decoded, std::vector<double>& normals);

 private:
  void of_token(Sequence& sequence, const Eigen::VectorXd& condition, const Commit& token,
                std::vector<double>& normals);

  const Composition& composition_;
  const Prompt& prompt_;
  Model& target_;
  ModelFacts facts_;
  bool by_step_;
};

}  // namespace draftlab
