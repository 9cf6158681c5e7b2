// A sequence of a model that stands before another model: what it knows is the inner sequence's.
#pragma once

#include <memory>
#include <string>

#include "core/model/model.h"
#include "core/model/refreshed.h"

namespace draftlab {

struct WrappedSequence : Sequence, Refreshed {
  WrappedSequence(const Canvas& its, std::unique_ptr<Sequence> wrapped)
      : Sequence(its), inner(std::move(wrapped)) {}
  std::string state() const override { return inner->state(); }
  int horizon() const override { return inner->horizon(); }
  bool spent() const override {
    const auto* const memory = dynamic_cast<const Refreshed*>(inner.get());
    return memory && memory->spent();
  }
  void restart() override { inner->restart(); }
  const std::unique_ptr<Sequence> inner;
};

}  // namespace draftlab
