#include "experiments/doctor/golden.h"

#include <doctest/doctest.h>

#include <fstream>

#include "core/base/error.h"
#include "experiments/doctor/blas.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

TEST_CASE("a golden decode is compared with the text beside its config") {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  const TraceFolder folder("golden");
  const std::string config = folder / "toy.ini";
  std::ofstream(config) << "# A toy.\nmodel = table\ntask = positions\nrun.limit = 1\n";
  std::vector<GoldenDecode> decodes = golden_decodes(folder.path, registries);
  REQUIRE(decodes.size() == 1);
  CHECK(decodes[0].difference != "");  // Nothing is stored yet.
  CHECK(decodes[0].decoded.starts_with("# A toy.\n"));

  std::ofstream(folder / "toy.txt") << decodes[0].decoded;
  const std::vector<GoldenDecode> again = golden_decodes(folder.path, registries);
  CHECK(again[0].difference == "");
  CHECK(signature(again) == signature(decodes));

  std::ofstream(config) << "# A toy.\nmodel = table\ntask = positions\nrun.seed = 5\n"
                           "drafter = stepwise\n";
  const std::vector<GoldenDecode> other = golden_decodes(folder.path, registries);
  CHECK(other[0].difference != "");
  CHECK(signature(other) != signature(decodes));
}

TEST_CASE("a folder without configs, or a config of two arms, is refused") {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  const TraceFolder folder("golden_empty");
  const std::string config = folder / "two.ini";
  CHECK_THROWS_AS(golden_decodes(folder.path, registries), DataError);
  std::ofstream(config) << "model = table\ntask = positions\n[sweep]\nrun.seed = 1, 2\n";
  CHECK_THROWS_WITH_AS(golden_decodes(folder.path, registries),
                       doctest::Contains("a golden decode has one arm, and this has 2"),
                       ConfigError);
}

TEST_CASE("a slow product is complained of, and a fast one is not") {
  const Blas none;
  CHECK(product_speed(none) == 0);
  CHECK(always_slow(none).find("there is no libblas.so.3") == 0);
  Blas reference{
      .product = [](auto...) {}, .path = "/usr/lib/blas/libblas.so.3.11.0", .config = ""};
  CHECK(always_slow(reference).find("the reference BLAS") != std::string::npos);
  CHECK(complaint(reference, 0.5).find("0.5 GFLOP/s: libblas.so.3 is the ref") !=
        std::string::npos);
  reference.config = "OpenBLAS 0.3.21";
  CHECK(always_slow(reference) == "");
  const Blas found = find_blas();
  if (!found.product) return;
  CHECK(complaint(found, 0.5) != "");
  CHECK(complaint(found, 1e6) == "");
}

}  // namespace
}  // namespace draftlab
