// The threads of a config hold for everything that computes.
#include <ATen/Parallel.h>
#include <dlfcn.h>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include <string>

#include "core/base/cores.h"
#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/kernels/rows/instructions.h"

namespace draftlab {

DOCTEST_TEST_CASE(
    "torch and its BLAS use as many threads as they are told, or as the process may use") {
  const auto of_blas =
      reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  use_threads(1);
  DOCTEST_CHECK(at::get_num_threads() == 1);
  if (of_blas) DOCTEST_CHECK(of_blas() == 1);
  use_threads(0);
  DOCTEST_CHECK(at::get_num_threads() == usable_threads());
  if (of_blas) DOCTEST_CHECK(of_blas() == usable_threads());
  use_threads(1);
}

DOCTEST_TEST_CASE("what computes says by which instructions rows are multiplied") {
  const auto libraries =
      reinterpret_cast<const char* (*)()>(::dlsym(RTLD_DEFAULT, "draftlab_math_libraries"));
  DOCTEST_REQUIRE(static_cast<bool>(libraries));
  const std::string kernels = "row kernels of " + std::string(word(instructions()));
  DOCTEST_CHECK(std::string(libraries()).starts_with(kernels + ", libtorch "));
}

}  // namespace draftlab
