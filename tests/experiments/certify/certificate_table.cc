// The table of certificates: what decoders of one config have in common, and that laws which are
// sampled have a table of their own.
#include "experiments/certify/certificate_table.h"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>

namespace draftlab {
namespace {

CertificateFinding walked(double variation, bool holds, std::int64_t worst) {
  return {.claim = "lossless | sequential",
          .holds = holds,
          .variation = variation,
          .nfe = 2,
          .worst = worst};
}

CertificateFinding sampled(SampledFinding of) {
  return {.claim = "lossless | sampled", .holds = true, .nfe = 3, .sampled = of};
}

TEST_CASE("a row has the range of its decoders, and rounding is not shown") {
  CertificateRow row;
  row.add(walked(1e-16, true, 3));
  row.add(walked(0.25, false, 7));
  std::ostringstream out;
  row.print(out, "a.ini", nullptr);
  CHECK(out.str() ==
        "| config | claim | law | hold | total variation | E[NFE] | worst NFE |\n"
        "|---|---|---|---|---|---|---|\n"
        "| `a.ini` | lossless | sequential | 1 of 2 | < 1e-14 to 0.25 | 2.000 | 7 |\n");
}

TEST_CASE("laws that are sampled have a table of their own, and rows of one kind share a head") {
  CertificateRow first, second, third;
  first.add(walked(0, true, 3));
  second.add(sampled({0.004, 0.8, 0.66, 1.8}));
  second.add(sampled({0.02, 7.9, 0.5, 1.8}));
  third.add(sampled({0.004, 0.8, 0.66, 1.8}));
  std::ostringstream out;
  second.print(out, "b.ini", &first);
  third.print(out, "c.ini", &second);
  CHECK(out.str() ==
        "\n| config | claim | law | hold | D | largest statistic, of its critical value | "
        "acceptance | tokens/step | E[NFE] |\n|---|---|---|---|---|---|---|---|---|\n"
        "| `b.ini` | lossless | sampled | 2 of 2 | 0.004 to 0.02 | 0.8 to 7.9 | 0.500 to 0.660 | "
        "1.80 | 3.000 |\n"
        "| `c.ini` | lossless | sampled | 1 of 1 | 0.004 | 0.8 | 0.660 | 1.80 | 3.000 |\n");
}

TEST_CASE("a statistic that is beyond every bound is the range, too") {
  constexpr double kBeyond = std::numeric_limits<double>::infinity();
  Extent range;
  range.add(kBeyond);
  CHECK(range.least == kBeyond);
  CHECK(range.largest == kBeyond);
  range.add(2);
  CHECK(range.least == 2);
}

TEST_CASE("a finding is the same after a copy of the process handed it over") {
  const CertificateFinding given = sampled({0.1 + 0.2, 1.5, 0.25, 2});
  const CertificateFinding had = finding_from(to_bytes(given));
  REQUIRE(had.sampled);
  CHECK(had.sampled->distance == 0.1 + 0.2);
  CHECK(had.sampled->share_of_critical == 1.5);
  CHECK(had.sampled->acceptance == 0.25);
  CHECK(had.sampled->tokens_per_step == 2);
  CHECK(had.claim == given.claim);
  CHECK_FALSE(finding_from(to_bytes(walked(0, true, 3))).sampled);
}

}  // namespace
}  // namespace draftlab
