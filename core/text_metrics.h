// How near a decoded text is to the text that stood there.
#pragma once

#include <string>

namespace draftlab {

// F1 in [0, 1] of word overlap, as the rouge_score package computes it without a stemmer: lower case, everything but a-z and
// 0-9 separates words, n-gram counts are clipped. Zero where either text has no n-gram.
double rouge_n(const std::string& reference, const std::string& candidate, int n);
// The same of the longest common subsequence of words.
double rouge_l(const std::string& reference, const std::string& candidate);

// Equal but for white space: its amount, and what leads and trails.
bool exact_match(const std::string& reference, const std::string& candidate);

}  // namespace draftlab
