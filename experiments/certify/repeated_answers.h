// Separates a decoder's rule from its model's arithmetic. A network in single precision answers a
// question differently, in the last digits, when it shares a forward with others, so a decoder that
// is exact as a rule deviates from its reference by rounding. Here a model is wrapped so that a
// question which is asked again gets the answer that it had, up to a bound which follows from the
// model's precision: decoder and reference then see one function, and what is left between them is
// the rule's. What was levelled out is measured and printed beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/loop/load_models.h"

namespace draftlab {

struct Arithmetic {
  // The unit roundoff of the models' arithmetic: the largest of ModelFacts::rounding.
  double unit = 0;
  // The largest total variation between two answers to one question, of those that were levelled.
  double largest = 0;
  // Total variation up to which two answers to one question are taken for one.
  double bound() const;
};

// The models of a certificate, and what their answers have shown so far.
struct SteadyModels {
  Models models;
  std::shared_ptr<Arithmetic> arithmetic;
};

// Wraps models whose answers are tokens' laws. What is asked of a wrapped model is answered and
// counted by the model; the answer is replaced by an earlier one to the same tokens in the same
// order at the same position, where the two are within the bound. Throws DataError when the very
// same question (kind, view, cache and all) is answered in two ways that are further apart, because
// then the model is no function of what it is asked.
SteadyModels steady(const Models& models);

}  // namespace draftlab
