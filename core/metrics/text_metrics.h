// Measures how near a decoded text is to the reference text.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

namespace draftlab {

// F1 in [0, 1] of word overlap, as the rouge_score package computes it without a stemmer: text is
// lowered, everything but a-z and 0-9 separates words, and n-gram counts are clipped. It is zero
// where either text has no n-gram.
double rouge_n(const std::string& reference, const std::string& candidate, int n);
// F1 of the longest common subsequence of words.
double rouge_l(const std::string& reference, const std::string& candidate);

// What corpus BLEU sums over sentences (Papineni et al., 2002), as the names of the scores under
// which tasks record it: clipped n-gram matches and the candidate's n-grams for n = 1..4, then both
// lengths in words.
inline constexpr int kBleuOrder = 4;
inline constexpr std::array kBleuSums = {
    "bleu_match_1", "bleu_match_2", "bleu_match_3", "bleu_match_4", "bleu_total_1",
    "bleu_total_2", "bleu_total_3", "bleu_total_4", "bleu_words",   "bleu_reference_words"};
using BleuSums = std::array<double, kBleuSums.size()>;
BleuSums bleu_sums(const std::string& reference, const std::string& candidate);
// Returns BLEU in [0, 100]: the geometric mean of the four precisions times the brevity penalty
// exp(1 - reference_words / words), which is at most 1. It is not smoothed: zero where no n-gram of
// some order matches. It is NaN where both sides have no word.
double bleu(std::span<const double> sums);

// Cuts a text into the words of BLEU, as mteval-v13a does for text without entities. Punctuation is
// a word of its own, but for apostrophes, hyphens that do not follow a digit, and points and commas
// between digits; case is kept.
std::vector<std::string> bleu_words(const std::string& text);

// Says whether two texts are equal but for white space: its amount, and what leads and trails.
bool exact_match(const std::string& reference, const std::string& candidate);

}  // namespace draftlab
