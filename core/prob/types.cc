#include "core/prob/types.h"

namespace draftlab {

// The switches have no default label, so that the compiler names a value that has been forgotten
// here.
std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::prefill: return "prefill";
    case Kind::draft: return "draft";
    case Kind::verify: return "verify";
    case Kind::commit: return "commit";
    case Kind::aux: return "aux";
    case Kind::judge: return "judge";
  }
  return "unknown";
}

std::string_view name(View view) {
  switch (view) {
    case View::bidirectional: return "bidirectional";
    case View::causal: return "causal";
  }
  return "unknown";
}

std::string_view name(Form form) {
  switch (form) {
    case Form::committed: return "committed";
    case Form::chain: return "chain";
    case Form::branches: return "branches";
    case Form::shallow: return "shallow";
    case Form::reverse: return "reverse";
  }
  return "unknown";
}

std::string_view name(Source source) {
  switch (source) {
    case Source::prompt: return "prompt";
    case Source::accepted: return "accepted";
    case Source::resampled: return "resampled";
    case Source::bonus: return "bonus";
    case Source::threshold: return "threshold";
    case Source::fallback: return "fallback";
    case Source::edited: return "edited";
    case Source::taken_back: return "taken-back";
  }
  return "unknown";
}

std::string_view name(Stop stop) {
  switch (stop) {
    case Stop::complete: return "complete";
    case Stop::wrong_token: return "wrong_token";
    case Stop::wrong_order: return "wrong_order";
    case Stop::window_end: return "window_end";
    case Stop::block_end: return "block_end";
    case Stop::cache_refresh: return "cache_refresh";
    case Stop::budget: return "budget";
    case Stop::end_of_text: return "end_of_text";
    case Stop::unverified: return "unverified";
  }
  return "unknown";
}

std::string_view name(Purpose purpose) {
  switch (purpose) {
    case Purpose::draft: return "draft";
    case Purpose::accept: return "accept";
    case Purpose::residual: return "residual";
    case Purpose::bonus: return "bonus";
    case Purpose::choice: return "choice";
    case Purpose::order: return "order";
    case Purpose::prompt: return "prompt";
    case Purpose::train: return "train";
    case Purpose::route: return "route";
    case Purpose::noise: return "noise";
    case Purpose::own_noise: return "own_noise";
    case Purpose::arrange: return "arrange";
    case Purpose::canvas: return "canvas";
  }
  return "unknown";
}

}  // namespace draftlab
