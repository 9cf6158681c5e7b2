// MAR's networks, diffusion head and sampler against the original implementation's numbers.
#include "plugins/models/mar/mar_network_torch.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numbers>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/mar/diffusion_loss_torch.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/kernels/timestep_features_torch.h"
#include "tests/plugins/models/mar/mar_small_torch.h"
#include "tests/plugins/models/recorded_torch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

struct MarBundle {
  explicit MarBundle(const fs::path& folder) : io((folder / "io.safetensors").string()) {}
  SafetensorsFile io;
  double largest = 0;  // The share of the tolerance that is used up.

  at::Tensor at(const std::string& name) const { return read(io, name); }
  // `scale`: what 1e-4 is relative to, besides the expected value.
  void compare(const std::string& name, const at::Tensor& actual, double scale = 1) {
    const at::Tensor expected = at(name);
    DOCTEST_REQUIRE_MESSAGE(actual.sizes() == expected.sizes(), name);
    const double share =
        ((actual - expected).abs() / (kTolerance * (scale + expected.abs()))).max().item<double>();
    largest = std::max(largest, share);
    DOCTEST_CHECK_MESSAGE(share <= 1, name << ": " << share << " of the tolerance");
  }
};

Eigen::ArrayXd array_of(const at::Tensor& row) {
  const at::Tensor flat = row.to(at::kDouble).contiguous();
  return Eigen::Map<const Eigen::ArrayXd>(flat.data_ptr<double>(), flat.numel());
}
at::Tensor tensor_of(const Eigen::ArrayXd& values) {
  at::Tensor tensor = at::empty({values.size()});
  for (Eigen::Index i = 0; i < values.size(); ++i)
    tensor.data_ptr<float>()[i] = static_cast<float>(values[i]);
  return tensor;
}

struct Law {
  Eigen::ArrayXd x0, mean, log_variance;
};
Law law_of(const Mar& net, const DiffusionSchedule& schedule, const at::Tensor& out,
           const at::Tensor& state, int step) {
  const std::int64_t d = net.config.dimension();
  const Eigen::ArrayXd now = array_of(state),
                       x0 = schedule.x0(net.config.prediction, array_of(out.narrow(0, 0, d)), now,
                                        step);
  return {
      x0, schedule.mean(x0, now, step),
      schedule.log_variance(net.config.variance, (array_of(out.narrow(0, d, d)) + 1) / 2, step)};
}

// The head at states x [n, D] and conditions c [n, d]; with guidance the second half of c is
// without class, and both halves share x.
at::Tensor said(const Mar& net, const DiffusionSchedule& schedule, const at::Tensor& x,
                const at::Tensor& c, int step, double scale) {
  const at::Tensor t = at::full({x.size(0)}, schedule.timesteps[step], at::kLong);
  const at::Tensor out = net.head.forward(x, net.head.time(t) + net.head.condition(c));
  if (scale == 1) return out;
  const std::int64_t d = net.config.dimension();
  const std::vector<at::Tensor> halves = out.chunk(2, 0);
  const at::Tensor told =
      halves[1].narrow(1, 0, d) + scale * (halves[0] - halves[1]).narrow(1, 0, d);
  return at::cat({at::cat({told, halves[0].narrow(1, d, d)}, 1),
                  at::cat({told, halves[1].narrow(1, d, d)}, 1)},
                 0);
}

// The original's p_sample_loop, noise taken in the order in which it draws.
at::Tensor sampled(const Mar& net, const DiffusionSchedule& schedule, const at::Tensor& c,
                   double scale, double temperature, const at::Tensor& noise, std::int64_t& used) {
  const std::int64_t d = net.config.dimension(), rows = c.size(0),
                     own = scale == 1 ? rows : rows / 2;
  const auto take = [&](std::int64_t count) {
    used += count * d;
    return noise.narrow(0, used - count * d, count * d).view({count, d});
  };
  at::Tensor x = take(own);
  if (own != rows) x = at::cat({x, x});
  for (int step = schedule.steps() - 1; step >= 0; --step) {
    const at::Tensor out =
                         said(net, schedule,
                              own == rows ? x : at::cat({x.narrow(0, 0, own), x.narrow(0, 0, own)}),
                              c, step, scale),
                     drawn = take(rows);
    std::vector<at::Tensor> next;
    for (std::int64_t i = 0; i < rows; ++i) {
      const Law law = law_of(net, schedule, out[i], x[i], step);
      next.push_back(tensor_of(law.mean + (step > 0 ? temperature : 0) *
                                              (0.5 * law.log_variance).exp() * array_of(drawn[i])));
    }
    x = at::stack(next);
  }
  return x;
}

void compare_networks(const Mar& net, MarBundle& bundle) {
  const at::Tensor masked = bundle.at("maskgit.mask"), tokens = bundle.at("maskgit.tokens"),
                   labels = bundle.at("maskgit.labels");
  const std::int64_t batch = labels.size(0);
  const at::Tensor places = at::nonzero(masked == 0).select(1, 1).view({batch, -1});
  const at::Tensor visible =
      tokens.gather(1, places.unsqueeze(-1).expand({-1, -1, tokens.size(2)}));
  const at::Tensor encoded = net.encode(visible, places, labels);
  bundle.compare("maskgit.encoder_out", encoded);
  bundle.compare("maskgit.z", net.decode(encoded, places));
  bundle.compare(
      "maskgit.z_uncond",
      net.decode(net.encode(visible, places, at::full({batch}, net.config.class_num, at::kLong)),
                 places));
  bundle.compare("diff.timestep_embedding", timestep_features(bundle.at("diff.t_original")));

  const at::Tensor x = bundle.at("diff.x_t"), c = bundle.at("diff.c"),
                   spaced = bundle.at("diff.t_spaced");
  bundle.compare("diff.net_out", net.head.forward(x, net.head.time(bundle.at("diff.t_original")) +
                                                         net.head.condition(c)));
  const DiffusionSchedule schedule(net.config.num_sampling_steps);
  std::vector<at::Tensor> x0, mean, log_variance, drawn;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const int step = static_cast<int>(spaced[i].item<std::int64_t>());
    const Law law =
        law_of(net, schedule, said(net, schedule, x.narrow(0, i, 1), c.narrow(0, i, 1), step, 1)[0],
               x[i], step);
    x0.push_back(tensor_of(law.x0));
    mean.push_back(tensor_of(law.mean));
    log_variance.push_back(tensor_of(law.log_variance));
    drawn.push_back(tensor_of(law.mean + (step > 0 ? 0.9 : 0) * (0.5 * law.log_variance).exp() *
                                             array_of(bundle.at("diff.noise")[i])));
  }
  // At the first reverse step an error of the prediction enters the mean 300 to 20,000 times:
  // relative to the row's largest value.
  bundle.compare("p_mean_variance.pred_xstart", at::stack(x0),
                 bundle.at("p_mean_variance.pred_xstart").abs().max().item<double>());
  bundle.compare("p_mean_variance.mean", at::stack(mean),
                 bundle.at("p_mean_variance.mean").abs().max().item<double>());
  bundle.compare("p_mean_variance.log_variance", at::stack(log_variance));
  bundle.compare("p_sample.sample_temp0.9", at::stack(drawn),
                 bundle.at("p_sample.sample_temp0.9").abs().max().item<double>());
  bundle.compare("schedule.alphas_cumprod", tensor_of(schedule.alpha_bar));
  bundle.compare("schedule.betas", tensor_of(schedule.beta));
  bundle.compare("schedule.posterior_log_variance_clipped",
                 tensor_of(schedule.posterior_log_variance));
}

// The number behind `word` in a tensor's name, such as 0.95 behind "temp"; `otherwise` where the
// name has no such word.
double number_after(const std::string& name, const std::string& word, double otherwise) {
  const std::size_t at = name.find(word);
  return at == std::string::npos ? otherwise : std::stod(name.substr(at + word.size()));
}

// The sampler of one token: "loop.sample_cfg2.0_temp0.95" has the config's own steps, those of
// "loop_ddim8.sample_temp1.0" are respaced.
void compare_token_loops(const Mar& net, MarBundle& bundle) {
  const at::Tensor c = bundle.at("diff.c"), noise = bundle.at("loop.noise");
  int loops = 0;
  for (const auto& [name, stored] : bundle.io.tensors()) {
    const std::size_t dot = name.find(".sample_");
    if (!name.starts_with("loop") || dot == std::string::npos) continue;
    const DiffusionSchedule schedule(name[4] == '_' ? name.substr(5, dot - 5)
                                                    : net.config.num_sampling_steps);
    std::int64_t used = 0;
    bundle.compare(name,
                   sampled(net, schedule, c, number_after(name, "cfg", 1),
                           number_after(name, "temp", 1), noise, used),
                   bundle.at(name).abs().max().item<double>());
    ++loops;
  }
  DOCTEST_CHECK(loops > 0);
}

// The image [n, C, side p, side p] of tokens [n, side side, C p p]: each is a patch of p by p.
at::Tensor unpatched(const MarConfig& config, const at::Tensor& tokens) {
  const std::int64_t side = config.side(), p = config.patch_size, c = config.vae_embed_dim;
  return tokens.view({-1, side, side, c, p, p})
      .permute({0, 3, 1, 4, 2, 5})
      .reshape({-1, c, side * p, side * p});
}

// The sampler of images: "sample.cfg3linear.image_latents". Their temperature is 1 without guidance
// and 0.95 with it; constant guidance takes 3 iterations, all else 4.
void compare_image_loops(const Mar& net, MarBundle& bundle) {
  const std::int64_t length = net.config.tokens(), d = net.config.dimension();
  const at::Tensor orders = bundle.at("orders"), labels = bundle.at("maskgit.labels"),
                   all_noise = bundle.at("sample.noise");
  const std::int64_t batch = labels.size(0);
  const DiffusionSchedule strided("ddim8");
  int loops = 0;
  for (const auto& [tensor, stored] : bundle.io.tensors()) {
    if (!tensor.starts_with("sample.") || !tensor.ends_with(".image_latents")) continue;
    ++loops;
    const std::string name = tensor.substr(7, tensor.find('.', 7) - 7);
    const double scale = number_after(name, "cfg", 1), temperature = scale == 1 ? 1 : 0.95;
    const bool linear = name.ends_with("linear");
    const int steps = name.ends_with("const") ? 3 : 4;
    std::int64_t used = 0;
    at::Tensor tokens = at::zeros({batch, length, d});
    std::int64_t masked = length;  // The first of the order.
    for (int step = 0; step < steps; ++step) {
      const auto after = static_cast<std::int64_t>(std::floor(
          static_cast<double>(length) * std::cos(std::numbers::pi / 2 * (step + 1) / steps)));
      const std::int64_t left =
          step + 1 == steps ? 0 : std::max<std::int64_t>(1, std::min(masked - 1, after));
      const at::Tensor places = std::get<0>(orders.narrow(1, masked, length - masked).sort(1)),
                       asked = std::get<0>(orders.narrow(1, left, masked - left).sort(1));
      const auto wide = [&](const at::Tensor& index, std::int64_t last) {
        return index.unsqueeze(-1).expand({-1, -1, last});
      };
      const at::Tensor visible = tokens.gather(1, wide(places, d));
      const auto conditions = [&](const at::Tensor& of) {
        return net.decode(net.encode(visible, places, of), places)
            .gather(1, wide(asked, net.config.decoder_embed_dim))
            .flatten(0, 1);
      };
      at::Tensor z = conditions(labels);
      const std::int64_t unknown =
          std::max<std::int64_t>(1, left);  // The original has it so: 1 at the end, too.
      const double own = linear ? 1 + (scale - 1) * static_cast<double>(length - unknown) /
                                          static_cast<double>(length)
                                : scale;
      if (scale != 1)
        z = at::cat({z, conditions(at::full({batch}, net.config.class_num, at::kLong))});
      const at::Tensor drawn = sampled(net, strided, z, own, temperature, all_noise, used)
                                   .narrow(0, 0, batch * asked.size(1));
      tokens = tokens.scatter(1, wide(asked, d), drawn.view({batch, -1, d}));
      masked = left;
    }
    DOCTEST_CHECK(used == bundle.at("sample." + name + ".noise_used").item<std::int64_t>());
    bundle.compare(tensor, unpatched(net.config, tokens),
                   bundle.at(tensor).abs().max().item<double>());
  }
  DOCTEST_CHECK(loops > 0);
}

}  // namespace

DOCTEST_TEST_CASE("parity: MAR's encoder, decoder and diffusion head, and its sampling loops") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  for (const auto& [folder, name, family] : bundles_of({"mar"}, "MAR")) {
    DOCTEST_INFO(name);
    const Mar net = Mar::load(folder.string());
    MarBundle networks(folder), loops(folder);
    compare_networks(net, networks);
    compare_token_loops(net, loops);
    compare_image_loops(net, loops);
    std::cout << "parity " << name << ": networks " << networks.largest << ", loops "
              << loops.largest << " of the tolerance of " << kTolerance << "\n";
  }
}

DOCTEST_TEST_CASE("a saved MAR is loaded again, and what does not fit is refused") {
  const SmallMar small;
  const Mar again = Mar::load(small.path.string());
  DOCTEST_REQUIRE(again.named_parameters.size() == small.net.named_parameters.size());
  for (std::size_t i = 0; i < again.named_parameters.size(); ++i) {
    DOCTEST_CHECK(again.named_parameters[i].first == small.net.named_parameters[i].first);
    DOCTEST_CHECK(again.named_parameters[i].second.equal(small.net.named_parameters[i].second));
  }
  DOCTEST_CHECK(again.config.prediction == Prediction::v);
  DOCTEST_CHECK(again.config.variance == Variance::beta);
  const auto refused = [&](const std::string& from, const std::string& to) {
    const SmallMar fresh;
    const fs::path path = fresh.path / "config.json";
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    DOCTEST_REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    std::ofstream(path) << text;
    try {
      Mar::load(fresh.path.string());
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DOCTEST_CHECK(refused("\"mar\"", "\"var\"").find("model_type 'var'") != std::string::npos);
  DOCTEST_CHECK(refused("\"encoder_num_heads\": 2", "\"encoder_num_heads\": 3")
                    .find("no multiple of 'encoder_num_heads'") != std::string::npos);
  DOCTEST_CHECK(
      refused("\"img_size\": 6", "\"img_size\": 7").find("'img_size' is 7, no multiple") !=
      std::string::npos);
  DOCTEST_CHECK(refused("\"vae_embed_dim\": 1", "\"vae_embed_dim\": 2").find("has shape") !=
                std::string::npos);
  DOCTEST_CHECK(refused("\"beta\"", "\"gamma\"").find("variance is learned, beta or beta-tilde") !=
                std::string::npos);
}

DOCTEST_TEST_CASE("a causal MAR tells a token from the class and the tokens before it") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const SmallMar small(true);
  const std::int64_t length = small.net.config.tokens(), d = small.net.config.dimension();
  at::Tensor tokens = at::arange(length * d, at::kFloat).sin().view({1, length, d});
  const at::Tensor labels = at::zeros({1}, at::kLong), before = small.net.causal(tokens, labels);
  tokens = tokens.clone();
  tokens[0][4].add_(1);
  const at::Tensor moved = (small.net.causal(tokens, labels) - before).abs().amax(2)[0];
  for (std::int64_t i = 0; i < length; ++i)
    DOCTEST_CHECK((moved[i].item<float>() > 1e-6) == (i > 4));
  DOCTEST_CHECK((small.net.causal(tokens, labels + 1) - before).abs().amax(2).min().item<float>() >
                1e-6);
}

DOCTEST_TEST_CASE("the loss: the error of the prediction, and the bound of a learned variance") {
  at::set_num_threads(1);
  const SmallMar small;
  const DiffusionSchedule all("1000");
  const std::int64_t n = 3, times = 2, d = small.net.config.dimension();
  const at::Tensor x0 = at::arange(n * d, at::kFloat).sin().view({n, d}),
                   noise = at::arange(n * times * d, at::kFloat).cos().view({n, times, d});
  const at::Tensor z = at::arange(n * 8, at::kFloat).sin().view({n, 8}),
                   t = at::arange(n * times, at::kLong).mul(170).view({n, times});
  // Zero weights predict 0: the error is the mean square of what was wanted.
  Mar silent(small.net.config, [](const std::string&, const std::vector<std::int64_t>& shape,
                                  Start) { return at::zeros(shape); });
  for (const Prediction prediction : {Prediction::epsilon, Prediction::v, Prediction::x0}) {
    const at::Tensor loss =
        DiffusionLoss{silent.head, all, prediction, Variance::beta}(x0, z, t, noise);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < times; ++j) {
        const int step = static_cast<int>(t[i][j].item<std::int64_t>());
        const double wanted =
            all.told(prediction, array_of(x0[i]), array_of(noise[i][j]), step).square().mean();
        DOCTEST_CHECK(loss[i][j].item<double>() == doctest::Approx(wanted).epsilon(1e-5));
      }
    }
  }
  // A learned variance halfway between its bounds: KL of two Gaussians, in bits.
  MarConfig learning = small.net.config;
  learning.variance = Variance::learned;
  Mar half(learning, [](const std::string&, const std::vector<std::int64_t>& shape, Start) {
    return at::zeros(shape);
  });
  const at::Tensor both =
      DiffusionLoss{half.head, all, Prediction::x0, Variance::learned}(x0, z, t, noise);
  const at::Tensor alone =
      DiffusionLoss{silent.head, all, Prediction::x0, Variance::beta}(x0, z, t, noise);
  const int step = 510;  // Token 1 is drawn for the second time.
  const double least = all.posterior_log_variance[step], most = std::log(all.beta[step]),
               own = (least + most) / 2;
  const Eigen::ArrayXd state = all.noised(array_of(x0[1]), array_of(noise[1][1]), step),
                       off = all.mean(array_of(x0[1]), state, step) -
                             all.mean(0 * state, state, step);
  const double kl =
      (0.5 * (own - least - 1 + std::exp(least - own) + off.square() * std::exp(-own))).mean() /
      std::numbers::ln2;
  DOCTEST_CHECK((both - alone)[1][1].item<double>() == doctest::Approx(kl).epsilon(1e-3));
}

}  // namespace draftlab
