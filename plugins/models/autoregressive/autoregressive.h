// The options of the model `autoregressive`, declared without torch.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"
#include "core/parts/model.h"
#include "plugins/models/kernels/precision.h"

namespace draftlab {

struct AutoregressiveOptions {
  std::string checkpoint, heads, cache = "on";
  std::int64_t exit_layers = 0, longest = 0;
  ModelDtype dtype = ModelDtype::run;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_autoregressive(
    const draftlab::AutoregressiveOptions* options);
