#include "plugins/models/mar/diffusion_loss_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <numbers>

namespace draftlab {
namespace {

at::Tensor tensor_of(const Eigen::ArrayXd& values) {
  at::Tensor tensor = at::empty({values.size()});
  for (Eigen::Index i = 0; i < values.size(); ++i)
    tensor.data_ptr<float>()[i] = static_cast<float>(values[i]);
  return tensor;
}

// Computes the standard normal's distribution function, as DiT approximates it.
at::Tensor normal_cdf(const at::Tensor& x) {
  return 0.5 * (1 + (std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x.pow(3))).tanh());
}

// Returns the nats of an 8-bit value x in [-1, 1] under a Gaussian.
at::Tensor pixel_nll(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& log_sigma) {
  constexpr double kHalfStep = 1.0 / 255, kLeast = 1e-12;
  const at::Tensor off = x - mean, inverse = (-log_sigma).exp();
  const at::Tensor above = normal_cdf(inverse * (off + kHalfStep)),
                   below = normal_cdf(inverse * (off - kHalfStep));
  const auto log = [](const at::Tensor& p) { return p.clamp_min(kLeast).log(); };
  return -at::where(x < -0.999, log(above),
                    at::where(x > 0.999, log(1 - below), log(above - below)));
}

}  // namespace

at::Tensor DiffusionLoss::operator()(const at::Tensor& x0, const at::Tensor& z,
                                     const at::Tensor& timesteps, const at::Tensor& noise) const {
  const std::int64_t times = timesteps.size(1), dimension = x0.size(1);
  const at::Tensor t = timesteps.reshape({-1}), eps = noise.reshape({-1, dimension});
  const auto at_t = [&](const Eigen::ArrayXd& values) {
    return tensor_of(values).index_select(0, t).unsqueeze(1);
  };
  const at::Tensor clean = x0.repeat_interleave(times, 0);
  const at::Tensor signal = at_t(schedule.alpha_bar.sqrt()),
                   spread = at_t((1 - schedule.alpha_bar).sqrt());
  const at::Tensor state = signal * clean + spread * eps;

  const at::Tensor time =
      at::embedding(head.time(at::arange(schedule.steps(), at::kLong), bf16), t);
  const at::Tensor out =
      head.forward(state, time + head.condition(z, bf16).repeat_interleave(times, 0), bf16);
  const at::Tensor told = out.narrow(1, 0, dimension);
  const at::Tensor wanted = prediction == Prediction::epsilon ? eps
                            : prediction == Prediction::x0    ? clean
                                                              : signal * eps - spread * clean;
  at::Tensor loss = (told - wanted).square().mean(1);
  if (variance != Variance::learned) return loss.view({-1, times});

  const at::Tensor fixed = told.detach();
  const at::Tensor guess = prediction == Prediction::epsilon ? (state - spread * fixed) / signal
                           : prediction == Prediction::x0    ? fixed
                                                             : signal * state - spread * fixed;
  const Eigen::ArrayXd before = schedule.alpha_bar_before, now = schedule.alpha_bar;
  const at::Tensor of_x0 = at_t(schedule.beta * before.sqrt() / (1 - now)),
                   of_state = at_t((1 - before) * (1 - schedule.beta).sqrt() / (1 - now));
  const at::Tensor least = at_t(schedule.posterior_log_variance), most = at_t(schedule.beta.log());
  const at::Tensor share = (out.narrow(1, dimension, dimension) + 1) / 2,
                   log_variance = share * most + (1 - share) * least;
  const at::Tensor mean = of_x0 * guess + of_state * state,
                   true_mean = of_x0 * clean + of_state * state;
  const at::Tensor kl = 0.5 * (log_variance - least - 1 + (least - log_variance).exp() +
                               (true_mean - mean).square() * (-log_variance).exp());
  const at::Tensor nats =
      at::where(t.unsqueeze(1) == 0, pixel_nll(clean, mean, 0.5 * log_variance), kl);
  return (loss + nats.mean(1) / std::numbers::ln2).view({-1, times});
}

}  // namespace draftlab
