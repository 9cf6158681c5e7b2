// What the tests of recorded decodes share.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/prob/types.h"
#include "plugins/models/transformer/transformer_torch.h"

namespace draftlab {

// The parity bundles; no folder where there are none.
inline std::filesystem::path bundles() {
  const char* named = std::getenv("DRAFTLAB_PARITY");
  return named ? std::filesystem::path(named)
               : std::filesystem::path(DRAFTLAB_SOURCE_DIR) / "../shared/parity";
}

// The authors leave the mask token in their distributions. So the checkpoint gets a second mask
// token, with the first one's embedding: that is the one which the model leaves out, and the first
// is a token like any other.
struct TwoMasks {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("draftlab-decodes-" + std::to_string(::getpid()));
  Token mask = 0;  // the authors'
  int vocabulary = 0;
  explicit TwoMasks(const std::filesystem::path& bundle) {
    const at::NoGradGuard no_grad;
    Transformer net = Transformer::load(bundle.string());
    mask = static_cast<Token>(net.config.mask_token_id);
    vocabulary = static_cast<int>(net.config.vocab_size);
    const auto with_another = [&](const at::Tensor& rows) {
      return at::cat({rows, rows.narrow(0, mask, 1)});
    };
    net.embed_tokens = with_another(net.embed_tokens);
    net.lm_head = with_another(net.lm_head);
    net.config.mask_token_id = net.config.vocab_size++;
    net.save(path.string(), false);
  }
  ~TwoMasks() { std::filesystem::remove_all(path); }
};

}  // namespace draftlab
