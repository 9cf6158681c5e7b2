// Which arms of a run share a loaded model.
#include "core/loop/load_models.h"

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"

namespace draftlab {
namespace {

class Unasked final : public Model {
 public:
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 2;
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas&, const Blocks&) override { return nullptr; }

 protected:
  void evaluate(std::span<Pending>) override {}
};

Factory<Model> made(const std::string& name, const std::string& checkpoint) {
  return {name, {{"checkpoint", checkpoint}}, [] { return std::make_unique<Unasked>(); }};
}

}  // namespace

DOCTEST_TEST_CASE(
    "models are shared by arms that name them alike, in one precision on one device") {
  Loaded loaded;
  const Machine f32{.dtype = Precision::f32}, q8{.dtype = Precision::q8},
      elsewhere{.device = Device::cuda};
  const auto first = load(made("a", "x"), f32, loaded);
  DOCTEST_CHECK(load(made("a", "x"), f32, loaded) == first);
  DOCTEST_CHECK(load(made("a", "y"), f32, loaded) != first);
  DOCTEST_CHECK(load(made("b", "x"), f32, loaded) != first);
  DOCTEST_CHECK(load(made("a", "x"), q8, loaded) != first);
  DOCTEST_CHECK(load(made("a", "x"), elsewhere, loaded) != first);
  Machine strict = f32;
  strict.fixed_shape = true;
  DOCTEST_CHECK_THROWS_AS(load(made("a", "x"), strict, loaded), ConfigError);
}

}  // namespace draftlab
