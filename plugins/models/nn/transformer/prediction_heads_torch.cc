#include "plugins/models/nn/transformer/prediction_heads_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"

namespace draftlab {
namespace {

constexpr std::int64_t kMostHeads = 1024;

std::string heads_file(const std::string& folder) { return folder + "/heads.safetensors"; }

}  // namespace

PredictionHeads PredictionHeads::random(const HeadsShape& shape, std::uint64_t seed,
                                        double spread) {
  const auto& [count, filter, width] = shape;
  const at::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  PredictionHeads heads{count, at::empty({count * filter, width}), at::zeros({count * filter}),
                        at::zeros({count * width, count * filter}), at::zeros({count * width})};
  heads.hidden.normal_(0, spread, generator);
  return heads;
}

bool PredictionHeads::stored(const std::string& folder) {
  return std::filesystem::is_regular_file(heads_file(folder));
}

std::string PredictionHeads::digest(const std::string& folder) {
  return SafetensorsFile(heads_file(folder)).digest();
}

PredictionHeads PredictionHeads::load(const std::string& folder, std::int64_t width,
                                      const std::string& base) {
  Weights weights({heads_file(folder)});
  const auto stated = [&](const std::string& name) {
    const auto found = weights.metadata().find(name);
    if (found == weights.metadata().end())
      throw DataError("{}: does not say its '{}': it holds no prediction heads", heads_file(folder),
                      name);
    return found->second;
  };
  PredictionHeads heads;
  heads.count = std::atoll(stated("heads").c_str());
  const std::int64_t filter = std::atoll(stated("filter").c_str());
  if (heads.count < 1 || heads.count > kMostHeads || filter < 1 || filter > 1 << 20) {
    throw DataError("{}: has {} heads of filter {}, 1 to {} of at least 1 can be",
                    heads_file(folder), stated("heads"), stated("filter"), kMostHeads);
  }
  if (const std::string wanted = stated("base"); wanted != base) {
    throw DataError("{}: its heads were made for a base whose weights have digest {}, not {}",
                    heads_file(folder), wanted, base);
  }
  heads.hidden = weights.take("heads.hidden.weight", {heads.count * filter, width}, at::kFloat);
  heads.hidden_bias = weights.take("heads.hidden.bias", {heads.count * filter}, at::kFloat);
  heads.project =
      weights.take("heads.project.weight", {heads.count * width, heads.count * filter}, at::kFloat);
  heads.project_bias = weights.take("heads.project.bias", {heads.count * width}, at::kFloat);
  weights.expect_all_taken();
  return heads;
}

void PredictionHeads::save(const std::string& folder, bool bf16, const std::string& base) const {
  make_folder(folder);
  write_weights(
      heads_file(folder), named_parameters(), bf16,
      {{"heads", std::to_string(count)}, {"filter", std::to_string(filter())}, {"base", base}});
}

void PredictionHeads::leave_first_to_base() {
  if (count == 0) return;
  const at::NoGradGuard no_grad;
  const std::int64_t width = project_bias.size(0) / count;
  project.narrow(0, 0, width).zero_();
  project_bias.narrow(0, 0, width).zero_();
  first_is_base = true;
}

std::vector<std::pair<std::string, at::Tensor>> PredictionHeads::named_parameters() const {
  if (count == 0) return {};
  return {{"heads.hidden.weight", hidden},
          {"heads.hidden.bias", hidden_bias},
          {"heads.project.weight", project},
          {"heads.project.bias", project_bias}};
}

at::Tensor PredictionHeads::states(const at::Tensor& h, std::int64_t first, std::int64_t some,
                                   bool bf16) const {
  const std::int64_t width = h.size(-1);
  const auto compute = [bf16](const at::Tensor& x) { return bf16 ? x.to(at::kBFloat16) : x; };
  const at::Tensor inside = at::relu(at::linear(compute(h), compute(hidden), compute(hidden_bias)));
  const at::Tensor weight = project.narrow(0, first * width, some * width),
                   bias = project_bias.narrow(0, first * width, some * width);
  std::vector<std::int64_t> shape = h.sizes().vec();
  shape.insert(shape.end() - 1, some);
  return h.unsqueeze(-2) + at::linear(inside, compute(weight), compute(bias)).view(shape);
}

at::Tensor PredictionHeads::logits(const Transformer& base, const at::Tensor& h, int head,
                                   bool bf16) const {
  const bool is_base = count == 0 || (head == 0 && first_is_base);
  const at::Tensor state = is_base ? h : states(h, head, 1, bf16).squeeze(-2);
  return bf16 ? at::linear(state.to(at::kBFloat16), base.lm_head.to(at::kBFloat16)).to(at::kFloat)
              : at::linear(state, base.lm_head);
}

}  // namespace draftlab
