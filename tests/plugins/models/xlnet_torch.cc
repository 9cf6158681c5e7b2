// The network against numbers that others computed: every parity bundle, and golden values of formula-defined weights.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/error.h"
#include "plugins/models/safetensors.h"
#include "plugins/models/xlnet_torch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr double kTolerance = 1e-4;  // absolute, and again relative to the expected value

at::Tensor read(const SafetensorsFile& file, const std::string& name) {
  const TensorBytes& stored = file.at(name);
  at::Tensor tensor = at::empty(stored.shape, stored.type == ElementType::i64 ? at::kLong : at::kFloat);
  std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

struct Difference {
  double largest = 0;    // absolute
  double share = 0;      // of the tolerance that is used up; above 1 is a failure
  void add(const at::Tensor& actual, const at::Tensor& expected) {
    DOCTEST_REQUIRE(actual.sizes() == expected.sizes());
    const at::Tensor error = (actual - expected).abs();
    largest = std::max(largest, error.max().item<double>());
    share = std::max(share, (error / (kTolerance + kTolerance * expected.abs())).max().item<double>());
  }
};

Difference compare_xlnet(const fs::path& folder) {
  const at::NoGradGuard no_grad;
  const Xlnet net = Xlnet::load(folder.string());
  const SafetensorsFile io((folder / "io.safetensors").string());
  Difference difference;
  for (const std::string name : {"draft", "verify", "density", "perm", "seg", "content"}) {
    if (!io.tensors().contains(name + ".logits")) continue;
    const at::Tensor ids = read(io, name + ".input_ids");
    const std::int64_t batch = ids.size(0), length = ids.size(1);
    ForwardOptions options;
    options.content = true;
    if (name == "content") {
      const at::Tensor open = at::zeros({batch, length, length}, at::kBool);
      const at::Tensor targets = at::zeros({batch, 1}, at::kLong);
      difference.add(lm_logits(net, two_stream(net, ids, open, open.narrow(1, 0, 1), targets, options).content), read(io, "content.logits"));
      continue;
    }
    const at::Tensor blocked = read(io, name + ".perm_mask").gt(0.5);
    const at::Tensor targets = read(io, name + ".target_positions");
    const at::Tensor blocked_query = blocked.gather(1, targets.unsqueeze(2).expand({batch, targets.size(1), length}));
    if (io.tensors().contains(name + ".token_type_ids")) options.segments = read(io, name + ".token_type_ids");
    const Hidden hidden = two_stream(net, ids, blocked, blocked_query, targets, options);
    const at::Tensor logits = lm_logits(net, hidden.query);
    difference.add(logits, read(io, name + ".logits"));
    const std::string last = "." + std::to_string(net.config.n_layer);
    if (io.tensors().contains(name + ".g" + last)) difference.add(hidden.query, read(io, name + ".g" + last));
    if (io.tensors().contains(name + ".h" + last)) difference.add(hidden.content, read(io, name + ".h" + last));
    if (io.tensors().contains(name + ".token_logprob")) {
      const at::Tensor truth = ids.gather(1, targets).unsqueeze(2);
      difference.add(logits.log_softmax(-1).gather(2, truth).squeeze(2), read(io, name + ".token_logprob"));
    }
  }
  return difference;
}

}  // namespace

DOCTEST_TEST_CASE("parity: every bundle") {
  at::set_num_threads(1);
  const char* named = std::getenv("DRAFTLAB_PARITY");
  const fs::path root = named ? fs::path(named) : fs::path(DRAFTLAB_SOURCE_DIR) / "../shared/parity";
  if (!fs::is_directory(root)) {
    std::cout << "parity: no bundles at " << root.string() << " (set DRAFTLAB_PARITY); nothing compared\n";
    return;
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    if (name.rfind("xlnet-", 0) != 0) {
      std::cout << "parity " << name << ": family not yet supported, nothing compared\n";
      continue;
    }
    const Difference difference = compare_xlnet(entry.path());
    std::cout << "parity " << name << ": family xlnet, largest error " << difference.largest << ", tolerance " << kTolerance << " absolute + " << kTolerance
              << " relative\n";
    DOCTEST_CHECK_MESSAGE(difference.share <= 1, name);
  }
}

}  // namespace draftlab
