// The options of the model `block-diffusion`, declared without torch.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"
#include "core/parts/model.h"
#include "plugins/models/kernels/precision.h"

namespace draftlab {

struct BlockDiffusionOptions {
  std::string checkpoint;
  std::string cache = "block", draft_mask = "block", commit = "separate", verify_rows = "span",
              sub_block_cache = "off", shifted = "auto";
  std::int64_t longest = 0;
  ModelDtype dtype = ModelDtype::run;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_block_diffusion(
    const draftlab::BlockDiffusionOptions* options);
