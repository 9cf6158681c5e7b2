// The options of the model `masked-diffusion`, declared without torch.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config/options.h"
#include "core/model/model.h"
#include "plugins/models/nn/transformer/decoder_options.h"

namespace draftlab {

// The keys and values that are kept from the last forward of the whole canvas.
enum class CanvasCache { none, prefix, dual };
constexpr std::array<std::string_view, 3> words(CanvasCache) { return {"none", "prefix", "dual"}; }

// How drafted tokens take part in the forward that refreshes the cache.
enum class DraftsInRefresh { none, own, root };
constexpr std::array<std::string_view, 3> words(DraftsInRefresh) { return {"none", "own", "root"}; }

struct MaskedDiffusionOptions : DecoderOptions {
  CanvasCache cache = CanvasCache::none;
  DraftsInRefresh ride = DraftsInRefresh::none;
  std::int64_t refresh = 0;
  bool cross = false;
  void declare(OptionSet& set);
};

}  // namespace draftlab

// The torch module exports this function; the caller owns the model.
extern "C" draftlab::Model* draftlab_make_masked_diffusion(
    const draftlab::MaskedDiffusionOptions* options);
