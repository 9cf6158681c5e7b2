// The options of the model `any-subset`, declared without torch.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"
#include "core/model/model.h"
#include "plugins/models/nn/kernels/rows/precision.h"

namespace draftlab {

struct AnySubsetOptions {
  std::string checkpoint;
  std::string random;
  bool incremental = true;
  ModelDtype dtype = ModelDtype::run;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_any_subset(const draftlab::AnySubsetOptions* options);
