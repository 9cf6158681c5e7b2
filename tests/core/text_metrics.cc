#include "core/text_metrics.h"

#include <doctest/doctest.h>

namespace draftlab {
namespace {

TEST_CASE("ROUGE of two sentences that differ in one word of six") {
  const std::string a = "The cat sat on the mat.", b = "the cat lay on the mat";
  CHECK(rouge_n(a, b, 1) == doctest::Approx(5.0 / 6));  // the, cat, on, the, mat of six
  CHECK(rouge_n(a, b, 2) == doctest::Approx(3.0 / 5));  // the cat, on the, the mat of five
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

}  // namespace
}  // namespace draftlab
