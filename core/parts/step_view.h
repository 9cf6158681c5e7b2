// What a router or an estimator may know about a step.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <new>

#include "core/prob/types.h"

namespace draftlab {

// A view of numbers that lie elsewhere, as an Eigen array. Assigning makes it look at other
// numbers, where a plain Eigen::Map would write into those it looks at.
class NumbersView : public Eigen::Map<const Eigen::ArrayXd> {
 public:
  using Map = Eigen::Map<const Eigen::ArrayXd>;
  NumbersView() : Map(nullptr, 0) {}
  NumbersView(const double* data, Eigen::Index size) : Map(data, size) {}
  NumbersView(const NumbersView&) = default;
  NumbersView& operator=(const NumbersView& other) {
    new (static_cast<Map*>(this)) Map(other.data(), other.size());
    return *this;
  }
};

// A step as numbers, never as tensors. The arrays are aligned with the proposal; they point into
// numbers that live as long as the step.
struct StepView {
  struct Span {
    std::int32_t first = 0;
    int length = 0;
  };
  // A block, or a part of one: its index, and how many positions it has, were given and are still
  // masked.
  struct Block {
    int index = 0, size = 0, given = 0, masked = 0;
  };

  // Addresses the random sites of this decode.
  std::uint64_t sequence = 0;
  Span span = {};
  // The current block.
  Block block = {};
  int step = 0;
  // The number of positions of the canvas, and how many of them are still masked.
  int length = 0;
  int masked = 0;
  int vocabulary = 0;
  // The share of the generated positions that is committed, in [0, 1].
  double progress = 0;
  // N_hi: how many drafts are so confident that the unmasker would commit them unverified.
  int preview = 0;
  // The probability of each drafted token (decode.reads says under what), the margin to the next
  // best one, the entropy in nats and the sum of squares (Renyi-2).
  NumbersView confidence;
  NumbersView margin;
  NumbersView entropy;
  NumbersView renyi2;
  // Of drafts that are vectors (else empty): the variance of the token's coordinates, how far each
  // reverse step's law lies from where the one before it pointed (mean square, in deviations), and
  // the geometric mean of the laws' deviations.
  NumbersView spread;
  NumbersView surprise;
  NumbersView deviation;
  // The accepted prefix that the chosen estimator expects.
  double expected = kNotMeasured;
  // The current part of the block (decode.sub_block); the block where it is decoded whole.
  Block sub_block = {};

  // How many drafts lie in the span: the leading ones of each array.
  Eigen::Index drafts() const { return std::min<Eigen::Index>(span.length, entropy.size()); }
};

}  // namespace draftlab
