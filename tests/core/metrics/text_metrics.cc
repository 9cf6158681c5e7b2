#include "core/metrics/text_metrics.h"

#include <doctest/doctest.h>

#include <cmath>

namespace draftlab {
namespace {

TEST_CASE("ROUGE of two sentences that differ in one word of six") {
  const std::string a = "The cat sat on the mat.", b = "the cat lay on the mat";
  CHECK(rouge_n(a, b, 1) == doctest::Approx(5.0 / 6));  // Only sat and lay differ.
  CHECK(rouge_n(a, b, 2) == doctest::Approx(3.0 / 5));  // Two pairs hold one of them.
  CHECK(rouge_l(a, b) == doctest::Approx(5.0 / 6));
}

TEST_CASE("n-gram matches are clipped and F1 weighs both lengths") {
  // One of the three "the" counts: precision 1/3, recall 1/2, F1 2/5.
  CHECK(rouge_n("the cat", "the the the", 1) == doctest::Approx(0.4));
  // Order matters for the subsequence only.
  CHECK(rouge_n("a b c d", "d c b a", 1) == doctest::Approx(1));
  CHECK(rouge_l("a b c d", "d c b a") == doctest::Approx(0.25));
  CHECK(rouge_l("a b c d", "a x c y") == doctest::Approx(0.5));
}

TEST_CASE("texts without words score zero; everything but letters and digits separates words") {
  CHECK(rouge_n("", "", 1) == 0);
  CHECK(rouge_l("...", "a") == 0);
  CHECK(rouge_n("one", "one", 2) == 0);
  CHECK(rouge_n("Tom's 2nd dog", "tom s 2ND-dog", 2) == doctest::Approx(1));
}

TEST_CASE("exact match forgives white space only") {
  CHECK(exact_match("The cat  sat.", " The cat sat.\n"));
  CHECK_FALSE(exact_match("The cat sat.", "the cat sat."));
  CHECK_FALSE(exact_match("The cat sat.", "Thecat sat."));
}

TEST_CASE("BLEU counts clipped matches of n-grams, by hand") {
  // Papineni et al.: seven times "the" against a reference with two.
  const BleuSums clipped = bleu_sums("the cat is on the mat", "the the the the the the the");
  CHECK(clipped[0] == 2);
  CHECK(clipped[kBleuOrder] == 7);
  CHECK(clipped[8] == 7);
  CHECK(clipped[9] == 6);
  CHECK(bleu(clipped) == 0);  // No bigram matches.

  // "a b c d x f" of "a b c d e f": 5/6 words, 3/5 bigrams (ab, bc, cd), 2/4 trigrams, 1/3 of four;
  // equally long.
  const BleuSums one = bleu_sums("a b c d e f", "a b c d x f");
  CHECK(one == BleuSums{5, 3, 2, 1, 6, 5, 4, 3, 6, 6});
  CHECK(bleu(one) == doctest::Approx(100 * std::pow(5.0 / 6 * 3 / 5 * 2 / 4 * 1 / 3, 0.25)));
  CHECK(bleu(bleu_sums("a b c d e", "a b c d e")) == doctest::Approx(100));
  // Four of eight words, all right: precisions 1, penalty exp(1 - 8/4). A longer candidate pays by
  // its precisions alone.
  CHECK(bleu(bleu_sums("a b c d e f g h", "a b c d")) == doctest::Approx(100 * std::exp(-1.0)));
  CHECK(bleu(bleu_sums("a b c d", "a b c d e")) ==
        doctest::Approx(100 * std::pow(4.0 / 5 * 3 / 4 * 2 / 3 * 1 / 2, 0.25)));
}

TEST_CASE("corpus BLEU is of the sums, not the mean of sentences") {
  const BleuSums good = bleu_sums("a b c d e", "a b c d e"),
                 bad = bleu_sums("f g h i j", "f x y z j");
  BleuSums both{};
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = good[i] + bad[i];
  CHECK(both == BleuSums{7, 4, 3, 2, 10, 8, 6, 4, 10, 10});
  CHECK(bleu(both) == doctest::Approx(100 * std::pow(7.0 / 10 * 4 / 8 * 3 / 6 * 2 / 4, 0.25)));
  CHECK(bleu(bad) == 0);
  CHECK(std::isnan(bleu(bleu_sums("", " "))));
  CHECK(bleu(bleu_sums("a b c d", "")) == 0);
}

TEST_CASE("words of BLEU: punctuation apart, but inside numbers and words") {
  using Words = std::vector<std::string>;
  CHECK(bleu_words("He paid $1,234.50, didn't he?") ==
        Words{"He", "paid", "$", "1,234.50", ",", "didn't", "he", "?"});
  CHECK(bleu_words("well-known 3-4 end.") == Words{"well-known", "3", "-", "4", "end", "."});
  CHECK(bleu_words(" .5 \t(a/b) ").size() == 7);  // That is . 5 ( a / b ).
}

}  // namespace
}  // namespace draftlab
