// The options of the model `autoregressive`, declared without torch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/config/options.h"
#include "core/model/model.h"
#include "plugins/models/nn/kernels/rows/precision.h"

namespace draftlab {

// Head 1 has a layer of its own, or is the base's own head.
enum class FirstHead { trained, base };
constexpr std::array<std::string_view, 2> words(FirstHead) { return {"trained", "base"}; }

// Whether the rows of tokens that the canvas still agrees with are kept.
enum class RowCache { on, off };
constexpr std::array<std::string_view, 2> words(RowCache) { return {"on", "off"}; }

struct AutoregressiveOptions {
  std::string checkpoint, heads, feature_head, hydra_heads;
  FirstHead first_head = FirstHead::trained;
  RowCache cache = RowCache::on;
  std::int64_t exit_layers = 0, longest = 0;
  ModelDtype dtype = ModelDtype::run;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_autoregressive(
    const draftlab::AutoregressiveOptions* options);
