// The options of the model `masked-diffusion`, declared without torch.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"
#include "core/parts/model.h"
#include "plugins/models/kernels/precision.h"

namespace draftlab {

struct MaskedDiffusionOptions {
  std::string checkpoint;
  std::string cache = "none", ride = "none", shifted = "auto";
  std::int64_t refresh = 0, longest = 0;
  bool cross = false;
  ModelDtype dtype = ModelDtype::run;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_masked_diffusion(
    const draftlab::MaskedDiffusionOptions* options);
