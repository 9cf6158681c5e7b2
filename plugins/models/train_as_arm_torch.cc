// Trainer `as-arm`: the loop. Every random number is addressed by (seed, step, canvas), so a resumed run is the uninterrupted
// one.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>

#include "core/chance.h"
#include "core/error.h"
#include "core/progress.h"
#include "plugins/models/adamw.h"
#include "plugins/models/corpus.h"
#include "plugins/models/lattice_loss_torch.h"
#include "plugins/models/safetensors.h"
#include "plugins/models/train_as_arm.h"
#include "plugins/models/xlnet_torch.h"

namespace draftlab {

namespace {

volatile std::sig_atomic_t stop_asked = 0;

// Uniforms of one canvas: the site's position counts the draws. Validation has clocks of its own.
constexpr std::uint64_t kTrainingStream = 0, kValidationStream = 1;
Uniforms uniforms(std::uint64_t seed, std::uint64_t stream, std::int64_t step, std::int64_t canvas) {
  Site site{stream, 0, Purpose::train, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(canvas)};
  return [seed, site]() mutable {
    const double u = SampledChance::uniform(seed, site);
    site.position++;
    return u;
  };
}

// The network's parameters and gradients as views of two flat arrays, which the optimizer and the checkpoint see.
struct Flat {
  std::vector<float> values, gradient;
  std::vector<std::pair<std::string, at::Tensor>> named;

  explicit Flat(const Xlnet& net) : named(net.named_parameters()) {
    std::int64_t total = 0;
    for (const auto& [name, parameter] : named) total += parameter.numel();
    values.resize(total);
    gradient.resize(total);
    std::int64_t at = 0;
    for (auto& [name, parameter] : named) {
      const auto view = [&](std::vector<float>& flat) { return at::from_blob(flat.data() + at, parameter.sizes(), at::kFloat); };
      view(values).copy_(parameter);
      parameter.set_data(view(values));
      parameter.set_requires_grad(true);
      parameter.mutable_grad() = view(gradient);
      at += parameter.numel();
    }
  }
};

TensorBytes bytes_of(const std::vector<float>& values) {
  return {ElementType::f32, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values))};
}

Xlnet network(const TrainAsArmJob& job, std::uint64_t seed) {
  const TrainAsArmOptions& o = job.options;
  if (!o.start.empty()) return Xlnet::load(o.start);
  XlnetConfig config;
  config.vocab_size = job.vocabulary;
  config.d_model = o.width;
  config.n_layer = o.layers;
  config.n_head = o.heads;
  config.d_head = o.width / o.heads;
  config.d_inner = o.inner;
  return Xlnet::random(config, seed);
}

// Mask rates are stratified over the canvases of the step; shape, prompt and order are each canvas's own.
LatticeBatch draw(const TrainAsArmOptions& o, const Corpus& corpus, std::uint64_t seed, std::uint64_t stream, std::int64_t step,
                  std::int64_t count) {
  const int length = static_cast<int>(o.length);
  const MaskSchedule masks{o.mask_start, o.mask_min, o.mask_max, o.mask_warmup};
  const std::vector<double> strata = low_discrepancy(uniforms(seed, stream, step, -1)(), static_cast<int>(count));
  LatticeBatch batch;
  for (std::int64_t i = 0; i < count; i++) {
    const Uniforms uniform = uniforms(seed, stream, step, i);
    batch.tokens.push_back(corpus.canvas(length, uniform(), o.align));
    const double shape = uniform();
    const double rate = masks.rate(strata[i], stream == kValidationStream ? o.mask_warmup : step);
    const std::vector<char> given = draw_prompt(length, prompt_size(rate, length),
                                                shape < o.share_prefix                    ? PromptShape::prefix
                                                : shape < o.share_prefix + o.share_spans ? PromptShape::spans
                                                                                           : PromptShape::scattered,
                                                uniform);
    batch.arrangements.push_back(arrange(given, o.order == "any-permutation", uniform));
  }
  return batch;
}

// Parts of a step's batch, one forward each.
LatticeBatch part(const LatticeBatch& batch, std::int64_t first, std::int64_t count) {
  return {{batch.tokens.begin() + first, batch.tokens.begin() + first + count},
          {batch.arrangements.begin() + first, batch.arrangements.begin() + first + count}};
}

double held_out_loss(const TrainAsArmJob& job, const Xlnet& net, std::uint64_t seed, bool bf16) {
  const TrainAsArmOptions& o = job.options;
  const at::NoGradGuard guard;
  const LatticeBatch all = draw(o, job.held_out, seed, kValidationStream, 0, o.validate_canvases);
  double sum = 0;
  for (std::int64_t first = 0; first < o.validate_canvases; first += o.batch)
    sum += lattice_nll(net, part(all, first, std::min(o.batch, o.validate_canvases - first)), bf16).sum().item<double>();
  return sum / static_cast<double>(all.scored());
}

void train_as_arm(const TrainAsArmJob& job, const TrainContext& context) {
  const auto& [o, corpus, held_out, vocabulary] = job;
  // Activations are large and short-lived: keep their pages instead of giving them back to the kernel after each step.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2000000000);
  if (context.machine.threads > 0) at::set_num_threads(context.machine.threads);
  const bool bf16 = context.machine.dtype == "bf16";

  const Xlnet net = network(job, context.seed);
  Flat flat(net);
  AdamW optimizer;
  optimizer.weight_decay = o.weight_decay;
  const RateSchedule rates{o.rate, o.floor, o.warmup, o.steps};
  const std::string state = context.out + "/training.safetensors";
  std::int64_t step = 0;
  double before = 0;  // seconds of earlier runs
  if (context.resume && std::filesystem::exists(state)) {
    const SafetensorsFile file(state);
    const auto take = [&](const std::string& name, std::vector<float>& to) {
      const TensorBytes& tensor = file.at(name);
      if (tensor.type != ElementType::f32 || tensor.bytes.size() != flat.values.size() * sizeof(float))
        throw DataError("'" + state + "' is of a model with other dimensions than the config's");
      to.resize(flat.values.size());
      std::memcpy(to.data(), tensor.bytes.data(), tensor.bytes.size());
    };
    take("parameters", flat.values);
    take("first_moment", optimizer.first);
    take("second_moment", optimizer.second);
    step = optimizer.steps = std::stoll(file.metadata().at("step"));
    before = std::stod(file.metadata().at("seconds"));
  }
  std::cout << "as-arm: " << flat.values.size() << " parameters, " << corpus.tokens() << " tokens of " << corpus.documents()
            << " documents, " << held_out.tokens() << " held out" << (step ? ", goes on at step " + std::to_string(step) : "") << std::endl;

  const auto clock = [start = std::chrono::steady_clock::now(), before] {
    return before + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double saved = clock();
  const auto save = [&] {
    write_safetensors(state, {{"parameters", bytes_of(flat.values)}, {"first_moment", bytes_of(optimizer.first)}, {"second_moment", bytes_of(optimizer.second)}},
                      {{"step", std::to_string(step)}, {"seconds", std::to_string(clock())}});
    net.save(context.out, o.dtype == "bf16");
    saved = clock();
  };
  stop_asked = 0;
  std::signal(SIGTERM, [](int) { stop_asked = 1; });
  std::signal(SIGINT, [](int) { stop_asked = 1; });
  Progress progress("training", "steps", o.steps, step);
  double logged = clock(), loss = 0, norm = 0;
  std::int64_t tokens = 0;
  const auto out_of_time = [&, begun = clock()] { return o.minutes > 0 && clock() - begun > 60 * o.minutes; };
  while (step < o.steps && !stop_asked && !out_of_time()) {
    const LatticeBatch batch = draw(o, corpus, context.seed, kTrainingStream, step, o.batch * o.accumulate);
    std::fill(flat.gradient.begin(), flat.gradient.end(), 0.0f);
    for (std::int64_t i = 0; i < o.accumulate; i++) {
      const at::Tensor nll = lattice_nll(net, part(batch, i * o.batch, o.batch), bf16).sum() / static_cast<double>(batch.scored());
      nll.backward();
      loss += nll.item<double>();
    }
    norm = draftlab::clip(flat.gradient, o.clip);
    optimizer.step(flat.values, flat.gradient, rates.rate(step));
    step++;
    tokens += o.batch * o.accumulate * o.length;
    if (step % o.log_every == 0) {
      const double seconds = clock() - logged;
      std::ostringstream note;
      note.precision(4);
      note << "loss " << loss / o.log_every << "  norm " << norm << "  " << static_cast<std::int64_t>(tokens / seconds) << " tokens/s";
      progress.at(step, note.str());
      logged = clock();
      loss = tokens = 0;
    }
    if (step % o.validate_every == 0 || step == o.steps) {
      const double held = held_out_loss(job, net, context.seed, bf16);
      progress.clear();
      std::cout << "step " << step << "  " << duration(clock()) << "  held-out loss " << held << " nats/token" << std::endl;
      logged = clock();
      tokens = 0;
    }
    if ((o.save_every && step % o.save_every == 0) || clock() - saved > 60 * o.save_minutes) save();
  }
  save();
  progress.clear();
  std::cout << (step == o.steps ? "finished" : "stopped") << " at step " << step << ", saved in " << context.out << std::endl;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void draftlab_train_as_arm(const TrainAsArmJob& job, const TrainContext& context);
extern "C" void draftlab_train_as_arm(const TrainAsArmJob& job, const TrainContext& context) { train_as_arm(job, context); }

}  // namespace draftlab
