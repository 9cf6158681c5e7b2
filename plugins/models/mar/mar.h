// The options of the model `mar`, declared without torch.
#pragma once

#include <string>

#include "core/config/options.h"
#include "core/parts/model.h"
#include "plugins/models/kernels/precision.h"

namespace draftlab {

struct MarOptions {
  std::string checkpoint, guidance_schedule = "linear", steps = "auto", variance = "auto";
  double guidance = 1;
  ModelDtype dtype = ModelDtype::run;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_mar(const draftlab::MarOptions* options);
