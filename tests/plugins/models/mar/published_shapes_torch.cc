#include <unistd.h>

#include <filesystem>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "plugins/models/bench/random_checkpoint.h"
#include "plugins/models/mar/mar_network_torch.h"

namespace draftlab {
namespace {

// Counts the parameters of a published shape, in millions: all, and those of the diffusion head.
std::pair<double, double> millions(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("draftlab-mar-" + std::to_string(getpid()));
  write_published_config(name, folder.string());
  double all = 0, head = 0;
  for (const auto& [tensor, weights] : Mar::hollow(MarConfig::read(folder)).named_parameters) {
    const double count = static_cast<double>(weights.numel()) / 1e6;
    all += count;
    if (tensor.starts_with("diffloss.")) head += count;
  }
  std::filesystem::remove_all(folder);
  return {all, head};
}

DOCTEST_TEST_CASE("the published shapes of MAR have the published numbers of parameters") {
  const auto [base, base_head] = millions("mar-base");
  DOCTEST_CHECK(base == doctest::Approx(207.9).epsilon(0.0003));
  DOCTEST_CHECK(base_head == doctest::Approx(35.7).epsilon(0.002));
  const auto [large, large_head] = millions("mar-large");
  DOCTEST_CHECK(large == doctest::Approx(478.3).epsilon(0.0003));
  DOCTEST_CHECK(large_head == doctest::Approx(72.2).epsilon(0.002));
  const auto [huge, huge_head] = millions("mar-huge");
  DOCTEST_CHECK(huge == doctest::Approx(942.4).epsilon(0.0003));
  DOCTEST_CHECK(huge_head == doctest::Approx(151.2).epsilon(0.002));
}

}  // namespace
}  // namespace draftlab
