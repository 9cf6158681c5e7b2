// What a comparison found, in words.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace draftlab {

// What was found, as a sentence and in few words: "exact_match: better".
struct Judgement {
  std::string sentence, brief;
};

// "exact_match better by 0.94 [0.92, 0.96] (90 %), more than the margin of 0.03": what a metric
// with a margin shows of an arm against its baseline. Empty where no margin is declared, or the
// comparison was refused.
Judgement verdict(const Metric& quantity, const Versus& versus);

// "NFE undecided (...); telling 1.05x from 1 needs about N prompts": of a factor whose interval
// holds 1. Empty where it does not, or there are prompts enough.
Judgement undecided_factor(const Metric& quantity, const Versus& versus);

}  // namespace draftlab
