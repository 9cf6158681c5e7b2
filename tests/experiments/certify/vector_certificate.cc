// That certificates of vector tokens see what is wrong, and nothing where all is right, also with
// few samples.
#include "experiments/certify/vector_certificate.h"

#include <doctest/doctest.h>

#include "core/config/composition.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/plugins/vector_decoding.h"

namespace draftlab {
namespace {

const Registries& registries() {
  static const Registries all = [] {
    Registries made;
    register_builtin_plugins(made);
    register_sections(made);
    return made;
  }();
  return all;
}

VectorCertificate certify(const std::string& lines) {
  const Composition composition = testing::vectors(
      lines +
          "[model.draft]\nshift = 0.5\nsigmas = 1.1, 0.6, 0.5\n[certify]\nsamples = "
          "4000\n[decode]\ndraft_length = 2\n[verifier.density]\ncap = 100000\n",
      "length = 4\nprompt = 0:0\n", registries());
  const auto task = composition.task.make();
  task->load(nullptr);
  Loaded loaded;
  return certify_vectors(composition, task->prompt(0), loaded);
}

// The first check whose name begins so.
Check check(const VectorCertificate& certificate, const std::string& name) {
  for (const Check& one : certificate.checks)
    if (one.name.starts_with(name)) return one;
  FAIL("there is no check '" << name << "'");
  return {};
}

TEST_CASE("an exact rule passes, and every check says what it was made from") {
  const VectorCertificate certificate = certify("");
  CHECK(certificate.lossless());
  CHECK(certificate.claims_hold());
  CHECK(check(certificate, "innovations, largest distance").statistics ==
        24);  // That is 3 tokens, 3 steps and the start, 2 coordinates.
  CHECK(check(certificate, "innovations, largest correlation").statistics == 276);
  CHECK(check(certificate, "covariance").statistics == 21);
  CHECK(certificate.tested == 12000);  // One replaced or accepted draft a token.
  int statistics = 0;
  for (const Check& one : certificate.checks) statistics += one.statistics;
  // Kolmogorov's limit: 2 exp(-2 n d^2) = alpha / statistics.
  CHECK(check(certificate, "innovations, largest distance").critical ==
        doctest::Approx(std::sqrt(std::log(2.0 * statistics / 0.01) / 8000)));
  CHECK(to_text(certificate).find("12000") != std::string::npos);
}

TEST_CASE("what is not exact is seen") {
  const VectorCertificate tempered = certify("[acceptance.speculative]\ngamma = 0.3\n");
  CHECK_FALSE(tempered.lossless());
  CHECK_FALSE(check(tempered, "innovations, largest distance").passes());
  CHECK_FALSE(check(tempered, "mean of the tokens").passes());
  CHECK_FALSE(check(tempered, "proposals").passes());
  // Tokens drawn without sight of one another are each right, and not together.
  const VectorCertificate together = certify(
      "model.draft = none\nrouter = never\nunmasker = all\n[drafter.diffusion]\ntogether = "
      "true\n[model.linear-gaussian]\ncoupling = 1\n");
  CHECK_FALSE(together.lossless());
  CHECK_FALSE(check(together, "covariance").passes());
  CHECK_FALSE(check(certify("[certify]\nmean = 0.7\n"), "claimed mean").passes());
  CHECK_FALSE(check(certify("[certify]\nacceptance = 0.5\n"), "claimed acceptance").passes());
}

TEST_CASE(
    "with noise of their own two draws of one law differ, so a draft of the target itself may be "
    "rejected") {
  const VectorCertificate certificate = certify("[verifier.density]\nk = 1\naligned = false\n");
  CHECK(certificate.lossless());
  for (const Check& one : certificate.checks)
    CHECK_FALSE(one.name.starts_with("drafts of the target itself"));
  CHECK(check(certify("[verifier.density]\nk = 1\n"), "drafts of the target itself").statistic ==
        0);
}

}  // namespace
}  // namespace draftlab
