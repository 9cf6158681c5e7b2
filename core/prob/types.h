// The basic types that every part shares: token ids, and the enums whose values are stored in
// traces.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace draftlab {

// An index into the model's vocabulary.
using Token = std::int32_t;
inline constexpr Token kNoToken = -1;

// The value of a quantity that was not measured.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// What a function evaluation was for. A forward that judged anything is `verify`; `aux` needs no
// forward of a model (an n-gram look-up). `judge` counts the scoring model of generative
// perplexity, never the decoder.
enum class Kind { prefill, draft, verify, commit, aux, judge };
inline constexpr int kKinds = 6;

// How the asked positions see the tokens. The same tokens seen bidirectionally and causally give
// different distributions.
enum class View { bidirectional, causal };

// The shape of a question, hence what a model must be able to do to answer it in one evaluation:
//  - committed: asked positions see exactly the committed tokens;
//  - chain: paths of drafted tokens in the causal view, where a position sees what precedes it on
//    its path; one batch row a path;
//  - branches: any tree of drafted tokens in the bidirectional view; one batch row a node;
//  - shallow: a committed or chain question in the causal view, answered by a cheap part of the
//    model: its first layers and its head (early exit), or a layer that reads its hidden states;
//  - reverse: the laws of reverse steps of vector tokens, without a forward of the backbone. Models
//    that answer it speak vectors.
enum class Form { committed, chain, branches, shallow, reverse };

// Where a committed token came from; `edited` and `taken_back` say what became of one later.
enum class Source { prompt, accepted, resampled, bonus, threshold, fallback, edited, taken_back };

// Why a step committed no more than it did.
enum class Stop {
  complete,
  wrong_token,
  wrong_order,
  window_end,
  block_end,
  cache_refresh,
  budget,
  end_of_text,
  unverified
};

// What a random number decides. It is part of the number's address (Site), so the values are
// stored: append new ones, and never renumber.
enum class Purpose {
  draft,
  accept,
  residual,
  bonus,
  choice,
  order,
  prompt,
  train,
  route,
  noise,
  own_noise,
  arrange,
  canvas
};

std::string_view name(Kind);
std::string_view name(View);
std::string_view name(Form);
std::string_view name(Source);
std::string_view name(Stop);
std::string_view name(Purpose);

}  // namespace draftlab
