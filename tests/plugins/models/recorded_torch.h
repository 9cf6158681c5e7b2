// What the tests against recorded numbers and decodes share: where the parity bundles are, of which
// family each is, and their tensors.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/prob/types.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// The folder of the parity bundles; there is none where they were not fetched.
inline std::filesystem::path bundles() {
  const char* named = std::getenv("DRAFTLAB_PARITY");
  return named ? std::filesystem::path(named)
               : std::filesystem::path(DRAFTLAB_SOURCE_DIR) / "../shared/parity";
}

// A parity bundle. Its folder may have any name: what it is says its config.json.
struct ParityBundle {
  std::filesystem::path folder;
  std::string name, family;
};

// The bundles of some families, by name. Where there are no bundles at all, a line says that
// `subject` is compared with none.
inline std::vector<ParityBundle> bundles_of(const std::vector<std::string>& families,
                                            const std::string& subject) {
  namespace fs = std::filesystem;
  std::vector<ParityBundle> found;
  if (!fs::is_directory(bundles())) {
    std::cout << "parity: no bundles at " << bundles().string() << " (set DRAFTLAB_PARITY); "
              << subject << " compared with none\n";
    return found;
  }
  for (const auto& entry : fs::directory_iterator(bundles())) {
    std::ifstream config(entry.path() / "config.json");
    if (!config) continue;
    const auto family = nlohmann::json::parse(config).value("model_type", "");
    if (std::count(families.begin(), families.end(), family))
      found.push_back({entry.path(), entry.path().filename().string(), family});
  }
  std::sort(found.begin(), found.end(),
            [](const ParityBundle& a, const ParityBundle& b) { return a.name < b.name; });
  return found;
}

// A tensor of a bundle.
inline at::Tensor read(const SafetensorsFile& file, const std::string& name) {
  const TensorBytes& stored = file.at(name);
  at::Tensor tensor =
      at::empty(stored.shape, stored.type == ElementType::i64 ? at::kLong : at::kFloat);
  std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

// The tolerance is absolute, and again relative to the expected value.
constexpr double kTolerance = 1e-4;

// How far tensors are from those recorded.
struct Difference {
  double largest = 0;  // The largest absolute difference.
  double share = 0;    // The share of the tolerance that is used up; above 1 is a failure.
  int compared = 0;
  void add(const at::Tensor& actual, const at::Tensor& expected) {
    DOCTEST_REQUIRE(actual.sizes() == expected.sizes());
    const at::Tensor error = (actual - expected).abs();
    largest = std::max(largest, error.max().item<double>());
    share =
        std::max(share, (error / (kTolerance + kTolerance * expected.abs())).max().item<double>());
    ++compared;
  }
};

// The authors leave the mask token in their distributions. So the checkpoint gets a second mask
// token, with the first one's embedding: that is the one which the model leaves out, and the first
// is a token like any other.
struct TwoMasks {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("draftlab-decodes-" + std::to_string(::getpid()));
  Token mask = 0;  // This is the mask of the authors.
  int vocabulary = 0;
  explicit TwoMasks(const std::filesystem::path& bundle) {
    const at::NoGradGuard no_grad;
    Transformer net = Transformer::load(bundle.string());
    mask = static_cast<Token>(net.config.mask_token_id);
    vocabulary = static_cast<int>(net.config.vocab_size);
    const auto with_another = [&](const at::Tensor& rows) {
      return at::cat({rows, rows.narrow(0, mask, 1)});
    };
    net.embed_tokens = with_another(net.embed_tokens);
    net.lm_head = with_another(net.lm_head);
    net.config.mask_token_id = net.config.vocab_size++;
    net.save(path.string(), false);
  }
  ~TwoMasks() { std::filesystem::remove_all(path); }
};

}  // namespace draftlab
