// The options that the models `block-diffusion` and `masked-diffusion` share. They need no torch.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"
#include "plugins/models/nn/kernels/rows/precision.h"
#include "plugins/models/nn/transformer/logit_shift.h"

namespace draftlab {

struct DecoderOptions {
  std::string checkpoint;
  LogitShift shifted = LogitShift::by_family;
  std::int64_t longest = 0;
  ModelDtype dtype = ModelDtype::run;
  void declare(OptionSet& set);
};

}  // namespace draftlab
