// The loop of the trainer `mar`: it learns, both ways round, and a resumed run is the uninterrupted
// one.
#include "plugins/models/mar/train_mar.h"

#include <ATen/core/Tensor.h>

#include <cmath>
#include <filesystem>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/config/plugin.h"
#include "core/trace/curves.h"
#include "plugins/models/mar/mar_network_torch.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

// Four tokens of one number: the class, or its opposite.
TokenImages images(int count) {
  TokenImages made{4, 1, 2, {}, {}};
  for (int i = 0; i < count; ++i) {
    made.labels.push_back(i % 2);
    for (int p = 0; p < 4; ++p)
      made.values.push_back((i % 2 == 0 ? 1.0f : -1.0f) * (p % 2 == 0 ? 1.0f : 0.5f));
  }
  return made;
}

TrainMarJob job(bool causal, std::int64_t steps) {
  TrainMarJob job{{}, images(20), images(32)};
  TrainMarOptions& o = job.options;
  o.images.source = ImageSource::npy;  // A token is one pixel.
  o.causal = causal;
  o.width = 8, o.encoder_layers = 1, o.decoder_layers = 1, o.heads = 2, o.buffers = 2,
  o.head_width = 16, o.head_layers = 1;
  o.batch = 32, o.accumulate = 2, o.steps = steps, o.warmup = 0, o.floor = 1, o.rate = 5e-3,
  o.log_every = 1, o.validate_every = 30;
  return job;
}

Curves train(const TrainMarJob& job, const std::filesystem::path& out, bool resume = false) {
  const Registries registries;
  Diagnostics diagnostics;
  const Config config = Config::parse("", "test.ini", diagnostics);
  Machine machine;
  machine.threads = 1;
  std::filesystem::create_directories(out);
  draftlab_train_mar(job, {registries, config, machine, 5, out.string(), resume});
  return read_curves((out / "curves.h5").string());
}

}  // namespace

DOCTEST_TEST_CASE("MAR learns, bidirectionally and causally") {
  const testing::Folder folder;
  for (const bool causal : {false, true}) {
    const Curves curves = train(job(causal, 60), folder.path / (causal ? "causal" : "both"));
    DOCTEST_REQUIRE(curves.validations.size() == 2);
    // v, told as 0, has a mean square of about 0.8: the noise's where there is little of it, the
    // token's where there is much.
    DOCTEST_CHECK(curves.steps.front().loss > 0.6);
    DOCTEST_CHECK(curves.validations.back().loss < 0.35);
    for (const auto& row : curves.steps)
      DOCTEST_CHECK((causal ? row.mask_rate == 1 : row.mask_rate >= 0.75));
    const Mar net = Mar::load((folder.path / (causal ? "causal" : "both")).string());
    DOCTEST_CHECK(net.config.causal == causal);
    DOCTEST_CHECK(net.config.tokens() == 4);
    DOCTEST_CHECK(net.config.dimension() == 1);
    DOCTEST_CHECK(net.config.class_num == 2);
  }
}

DOCTEST_TEST_CASE("a training of MAR that goes on is the one that was not interrupted") {
  const testing::Folder folder;
  train(job(false, 6), folder.path / "whole");
  train(job(false, 3), folder.path / "parts");  // The learning rate is constant.
  train(job(false, 6), folder.path / "parts", true);
  const SafetensorsFile a((folder.path / "whole" / "model.safetensors").string()),
      b((folder.path / "parts" / "model.safetensors").string());
  DOCTEST_CHECK(a.digest() == b.digest());
}

}  // namespace draftlab
