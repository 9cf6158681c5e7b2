// The options of the model `mar`, declared without torch.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/config/options.h"
#include "core/model/model.h"
#include "plugins/models/nn/kernels/rows/precision.h"

namespace draftlab {

// How guidance grows while tokens become known.
enum class GuidanceSchedule { linear, constant };
constexpr std::array<std::string_view, 2> words(GuidanceSchedule) { return {"linear", "constant"}; }

// The variance of a reverse step; `auto` is the checkpoint's.
enum class ReverseVariance { checkpoint, learned, beta, beta_tilde };
constexpr std::array<std::string_view, 4> words(ReverseVariance) {
  return {"auto", "learned", "beta", "beta-tilde"};
}

struct MarOptions {
  std::string checkpoint, steps = "auto";
  GuidanceSchedule guidance_schedule = GuidanceSchedule::linear;
  ReverseVariance variance = ReverseVariance::checkpoint;
  double guidance = 1;
  ModelDtype dtype = ModelDtype::run;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_mar(const draftlab::MarOptions* options);
