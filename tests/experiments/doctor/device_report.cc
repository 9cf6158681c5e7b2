#include "experiments/doctor/device_report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "core/base/error.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

// A model of three tokens that may answer otherwise on a device, or not compute there.
class Placed final : public Model {
 public:
  struct Options {
    double off = 0;
    bool refuses = false;
    void declare(OptionSet& set) {
      set.add("off", &off).help("How much a logit is off on a device.");
      set.add("refuses", &refuses).help("Computes on the CPU alone.");
    }
  };
  explicit Placed(const Options& options) : options_(options) {}
  void load(const Machine& machine) override {
    if (machine.device == Device::cpu) options_.off = 0;
    if (machine.device != Device::cpu && options_.refuses)
      throw ConfigError("it computes on the CPU alone");
    unit_ = unit_roundoff(machine.dtype);
  }
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 3, facts.family = "placed", facts.checkpoint = "folder/of/weights/";
    facts.rounding = unit_;
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }

 private:
  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch)
      for (const Ask& asked : pending.question->asks)
        for (const std::int32_t position : asked.positions)
          pending.answer->add(asked.node, position,
                              Distribution(Eigen::ArrayXd{{2, 1, std::exp(options_.off)}}));
  }
  Options options_;
  double unit_ = 0;
};

std::vector<TriedModel> tried(const std::string& options) {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  registries.models.add_with<Placed::Options>(
      "placed", "for a test", {Form::committed, Form::chain},
      [](const Placed::Options& made) { return std::make_unique<Placed>(made); });
  const TraceFolder folder("device");
  const std::string config = folder / "placed.ini";
  std::ofstream(config) << "model = placed\ntask = positions\nfrontier = left-to-right\n"
                           "drafter = stepwise\n[task.positions]\nlength = 6\nprompt = 0:1\n"
                           "[decode]\nstop = off\n[model.placed]\n"
                        << options << "\n[sweep]\ndecode.temperature = 1, 0.5\n";
  return try_models(config, Device::cpu_tensors, registries);
}

TEST_CASE("a model is tried once in each precision, and named by its plugin and its checkpoint") {
  const std::vector<TriedModel> models = tried("off = 1e-6");
  REQUIRE(models.size() == 2);
  CHECK(models[0].dtype == Precision::f32);
  CHECK(models[1].dtype == Precision::bf16);
  for (const TriedModel& model : models) {
    CHECK(model.name == "placed");
    CHECK(model.checkpoint == "weights");
    CHECK(model.rows == 5);
    CHECK(model.works());
    CHECK(model.distance > 0);
    CHECK(model.distance < 1e-6);  // Total variation is below the change of the one logit.
    CHECK(model.milliseconds > 0);
    CHECK(model.cpu_milliseconds > 0);
  }
  CHECK(models[0].explained == explained_by_rounding(unit_roundoff(Precision::f32)));
}

TEST_CASE("what differs on a device by more than rounding explains does not work there") {
  const std::vector<TriedModel> models = tried("off = 0.01");
  REQUIRE(models.size() == 2);
  CHECK(models[0].faults == 5);
  CHECK(!models[0].works());
  CHECK(models[1].works());  // In bf16 that is rounding.
}

TEST_CASE("a model that a device does not compute is refused in its own words") {
  const std::vector<TriedModel> models = tried("refuses = true");
  REQUIRE(models.size() == 2);
  CHECK(models[0].refusal == "it computes on the CPU alone");
  CHECK(models[0].rows == 0);
  CHECK(!models[0].works());
}

TEST_CASE("the configs that come with draftlab are those of five families") {
  const std::vector<std::string> configs = device_configs();
  CHECK(configs.size() == 5);
  for (const char* family :
       {"any-subset", "autoregressive", "block-diffusion", "mar", "masked-diffusion"})
    CHECK(std::any_of(configs.begin(), configs.end(), [&](const std::string& config) {
      return config.ends_with(std::string("/") + family + ".ini");
    }));
}

}  // namespace
}  // namespace draftlab
