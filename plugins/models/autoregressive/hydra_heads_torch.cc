#include "plugins/models/autoregressive/hydra_heads_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"

namespace draftlab {
namespace {

constexpr std::int64_t kMostHeads = 64, kWidestFilter = 1 << 16;

std::string file_in(const std::string& folder) { return folder + "/hydra_heads.safetensors"; }

}  // namespace

HydraHeads HydraHeads::zeros(const HeadsShape& shape) {
  const auto& [count, filter, width] = shape;
  HydraHeads made;
  made.filter = filter;
  for (std::int64_t head = 0; head < count; ++head)
    made.heads.push_back({at::zeros({filter, (head + 2) * width}), at::zeros({filter}),
                          at::zeros({width, filter}), at::zeros({width})});
  return made;
}

HydraHeads HydraHeads::random(const HeadsShape& shape, std::uint64_t seed, double spread) {
  const at::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  HydraHeads made = zeros(shape);
  for (Head& head : made.heads) head.hidden.normal_(0, spread, generator);
  return made;
}

std::string HydraHeads::digest(const std::string& folder) {
  return SafetensorsFile(file_in(folder)).digest();
}

HydraHeads HydraHeads::load(const std::string& folder, std::int64_t width,
                            const std::string& base) {
  const at::NoGradGuard no_grad;
  const std::string file = file_in(folder);
  Weights weights({file});
  const auto stated = [&](const std::string& name) {
    const auto found = weights.metadata().find(name);
    if (found == weights.metadata().end())
      throw DataError("{}: does not say its '{}': it holds no Hydra heads", file, name);
    return found->second;
  };
  const std::int64_t count = std::atoll(stated("heads").c_str()),
                     filter = std::atoll(stated("filter").c_str());
  if (count < 1 || count > kMostHeads || filter < 1 || filter > kWidestFilter)
    throw DataError("{}: has {} heads of filter {}, 1 to {} of at least 1 can be", file,
                    stated("heads"), stated("filter"), kMostHeads);
  if (const std::string wanted = stated("base"); wanted != base)
    throw DataError("{}: its heads were made for a base whose weights have digest {}, not {}", file,
                    wanted, base);
  HydraHeads made = zeros({count, filter, width});
  for (auto& [name, tensor] : made.named_parameters())
    tensor.copy_(weights.take(name, tensor.sizes().vec(), at::kFloat));
  weights.expect_all_taken();
  return made;
}

void HydraHeads::save(const std::string& folder, bool bf16, const std::string& base) const {
  make_folder(folder);
  write_weights(
      file_in(folder), named_parameters(), bf16,
      {{"heads", std::to_string(count())}, {"filter", std::to_string(filter)}, {"base", base}});
}

std::vector<std::pair<std::string, at::Tensor>> HydraHeads::named_parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::string name = "hydra." + std::to_string(i);
    all.emplace_back(name + ".hidden.weight", heads[i].hidden);
    all.emplace_back(name + ".hidden.bias", heads[i].hidden_bias);
    all.emplace_back(name + ".project.weight", heads[i].project);
    all.emplace_back(name + ".project.bias", heads[i].project_bias);
  }
  return all;
}

at::Tensor HydraHeads::states(std::size_t head, const at::Tensor& state, const at::Tensor& read,
                              bool bf16) const {
  const Head& its = heads[head];
  const auto compute = [bf16](const at::Tensor& x) { return bf16 ? x.to(at::kBFloat16) : x; };
  const at::Tensor inside =
      at::silu(at::linear(compute(read), compute(its.hidden), compute(its.hidden_bias)));
  return state + at::linear(inside, compute(its.project), compute(its.project_bias));
}

}  // namespace draftlab
