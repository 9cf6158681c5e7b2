// Makes sentences and their translations into an invented language, from a seed. The language is
// small enough for a small model, and resembles a translation in what makes blockwise parallel
// decoding hard. data/README.md describes the language.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/tasks/problem_split.h"

namespace draftlab {

struct Transduction {
  // A sentence such as "four old dogs saw a red house yesterday ."
  std::string source;
  // Its translation, such as "vceram sobaki staros cet domarm roda vidatos ."
  std::string target;
};

// The sentence of an index depends on nothing but seed, index and split. Splits are those of
// problem_split_of(source): no source of one split can occur in another, whatever the seed. A
// source that occurs twice in a split may be translated in two ways: where the language has several
// words for one, or two orders, each occurrence chooses.
Transduction make_transduction(std::uint64_t seed, std::int64_t index, ProblemSplit split);

}  // namespace draftlab
