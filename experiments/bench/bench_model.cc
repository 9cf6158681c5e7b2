// Measures what the passes of decoding cost with a checkpoint, or with random weights in a
// published shape: prefill, one denoising pass, one verification pass, one cached step. It prints
// operations and bytes a second beside what this machine does at best.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "core/trace/provenance.h"
#include "experiments/bench/bench.h"
#include "plugins/models/bench/machine_speed.h"
#include "plugins/models/bench/random_checkpoint.h"
#include "plugins/models/nn/checkpoint/config_json.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

struct ModelBenchOptions {
  std::int64_t prompt = 512, block = 0, times = 5;
  void declare(OptionSet& set) {
    set.add("prompt", &prompt).in(1, 1 << 20).help("Tokens of the prompt.");
    set.add("block", &block)
        .in(0, 4096)
        .help(
            "Positions that one pass denoises, and tokens that one verifies; 0: the checkpoint's "
            "block size, or 8.");
    set.add("times", &times).in(1, 1000).help("How often each pass is measured.");
  }
};

// What one pass multiplies and reads, according to config.json. Embeddings are looked up, so they
// count for neither.
struct Work {
  // `attention` is the number of heads times their width.
  std::int64_t width = 0, vocabulary = 0, layers = 0, attention = 0;
  // The products of a row and a key: the score, and the weighted value.
  std::int64_t products = 2;
  // The weights that every row meets.
  std::int64_t always = 0;
  // The weights of all experts, how many experts there are, and how many a row chooses.
  std::int64_t routed = 0, experts = 0, chosen = 0;

  Work(const std::string& folder, std::int64_t parameters) {
    const Json json = Json::parse(std::ifstream(folder + "/config.json"));
    const bool xlnet = json.value("model_type", "") == "xlnet";
    if (xlnet) {
      width = json["d_model"], vocabulary = json["vocab_size"], layers = json["n_layer"];
      attention = json["n_head"].get<std::int64_t>() * json["d_head"].get<std::int64_t>();
      // Positions are projected once.
      always = parameters - vocabulary * width - layers * width * attention;
      products = 3;  // Positions have a score of their own.
      return;
    }
    const TransformerConfig config = TransformerConfig::read(folder);
    width = config.hidden_size, vocabulary = config.vocab_size, layers = config.num_hidden_layers;
    attention = config.num_attention_heads * config.head_dim;
    experts = config.experts.count, chosen = config.experts.chosen;
    for (std::int64_t i = 0; i < layers; ++i)
      if (config.has_experts(i)) routed += experts * 3 * config.experts.inner * width;
    always = parameters - routed - vocabulary * width * (config.tie_word_embeddings ? 1 : 2);
    if (config.gpt2()) always -= config.max_position_embeddings * width;
  }
  double operations(const Count& rows, std::int64_t asked, std::int64_t seen) const {
    const double own = static_cast<double>(always) +
                       (experts > 0 ? static_cast<double>(routed * chosen / experts) : 0);
    return static_cast<double>(rows.positions) *
               (2 * own + 2 * static_cast<double>(products * layers * attention * seen)) +
           2.0 * static_cast<double>(asked * vocabulary * width);
  }
  // Returns the bytes of weights that are read: a row reads its own experts, and all rows together
  // at most all of them.
  double bytes(const Count& rows, std::int64_t asked, double size) const {
    const double share = experts > 0 ? std::min(1.0, static_cast<double>(rows.positions * chosen) /
                                                         static_cast<double>(experts))
                                     : 0;
    return size * (static_cast<double>(always) + share * static_cast<double>(routed) +
                   (asked > 0 ? static_cast<double>(vocabulary * width) : 0));
  }
};

struct Pass {
  std::string name;
  Kind kind;
  // Without a question, the pass is what the cache needs first.
  std::optional<Question> question;
};

std::vector<std::int32_t> positions_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int32_t> positions;
  for (std::int64_t i = 0; i < count; ++i)
    positions.push_back(static_cast<std::int32_t>(first + i));
  return positions;
}

// Drafts `count` tokens one after another from `first` on, each asked before it is known.
Question path(std::int64_t first, std::int64_t count) {
  Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
  for (int i = 0; i < count; ++i) {
    const auto position = static_cast<std::int32_t>(first + i);
    question.asks.push_back({i - 1, {position}});
    question.nodes.push_back({i - 1, position, static_cast<Token>(100 + i)});
  }
  return question;
}

// Returns each model's own passes over `block` positions behind the prompt. A right-shifted model
// knows the first of them already: its step computes a token and asks what follows.
std::vector<Pass> passes(const std::string& model, bool right_shifted, std::int64_t prompt,
                         std::int64_t block) {
  const std::vector<Ask> whole{{kRoot, positions_from(prompt, block)}},
      next{{kRoot, positions_from(prompt, 1)}};
  const Question denoise{
      .kind = Kind::draft, .view = View::bidirectional, .nodes = {}, .asks = whole};
  const Question causal{.kind = Kind::draft,
                        .view = View::causal,
                        .nodes = {},
                        .asks = model == "any-subset" ? whole : next};
  Question step = causal;
  if (model == "block-diffusion" && right_shifted) {
    step = path(prompt, 1);
    step.kind = Kind::draft;
    step.asks = {{0, positions_from(prompt + 1, 1)}};
  }
  if (model == "masked-diffusion")
    return {{"whole canvas", Kind::draft, denoise}, {"denoising", Kind::draft, denoise}};
  if (model == "block-diffusion")
    return {{"prefill", Kind::prefill, {}},
            {"denoising", Kind::draft, denoise},
            {"verification", Kind::verify, path(prompt, block)},
            {"cached step", Kind::draft, step}};
  return {{"prefill", Kind::draft, causal},
          {model == "any-subset" ? "drafting" : "cached step", Kind::draft, causal},
          {"verification", Kind::verify, path(prompt, block)}};
}

std::string model_of(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const Json json = parsed(path, "a checkpoint is a folder with config.json and model.safetensors");
  if (value<std::string>(json, path, "model_type", "") == "xlnet") return "any-subset";
  const TransformerConfig config = TransformerConfig::read(folder);
  if (config.model_type == "llada" || config.model_type == "Dream") return "masked-diffusion";
  return config.block_size > 0 ? "block-diffusion" : "autoregressive";
}

// Returns what a config must say beside the model so that it can be composed; nothing is decoded by
// it.
std::string base_of(const std::string& model) {
  const std::string parts = model == "any-subset" ? "drafter = self\nverifier = chain\n"
                            : model == "autoregressive"
                                ? "drafter = stepwise\nverifier = chain\nfrontier = left-to-right\n"
                                : "drafter = denoise\nfrontier = blocks\nverifier = " +
                                      std::string(model == "masked-diffusion" ? "tree" : "chain") +
                                      "\n";
  return "model = " + model + "\ntask = positions\n" + parts +
         "[task.positions]\nlength = 2\nprompt = 0:1\n";
}

// A folder that is removed when the benchmark ends.
struct Temporary {
  std::string path;
  ~Temporary() {
    if (!path.empty()) std::filesystem::remove_all(path);
  }
};

std::int64_t memory(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field, 0) == 0)
      return std::stoll(line.substr(std::string(field).size() + 1)) * 1024;
  return 0;
}

// In q8 and q4 a block of 32 weights has a scale of two bytes.
double bytes_of_weight(Precision precision) {
  switch (precision) {
    case Precision::f32: return 4;
    case Precision::bf16: return 2;
    case Precision::q8: return 34.0 / 32;
    case Precision::q4: return 18.0 / 32;
  }
  throw Fault("a precision of an unknown size");
}

}  // namespace

int bench_checkpoint(const CommandLine& line) {
  if (line.paths.size() != 3)
    throw UsageError("draftlab bench checkpoint takes a published shape and the folder to write");
  std::string dtype = "bf16";
  for (const auto& [key, value] : line.overrides)
    if (key == "run.dtype") dtype = value;
  write_published_config(line.paths[1], line.paths[2]);
  write_random_weights(line.paths[2], dtype == "bf16" ? ElementType::bf16 : ElementType::f32);
  return 0;
}

int bench_model(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  if (line.paths.size() != 2)
    throw UsageError("draftlab bench model takes a checkpoint's folder or a published shape");
  const ModelBenchOptions options = bench_options<ModelBenchOptions>(line);

  Temporary made;
  std::string folder = line.paths[1];
  if (!std::filesystem::exists(folder + "/config.json")) {
    folder =
        (std::filesystem::temp_directory_path() / ("draftlab-bench-" + std::to_string(::getpid())))
            .string();
    write_published_config(line.paths[1], folder);
    made.path = folder;
  }
  const std::string model = model_of(folder);
  Faults faults;
  Config config = Config::parse(base_of(model), "bench", faults);
  config.set({"model." + model + ".checkpoint", folder, "bench"});
  if (model == "masked-diffusion") config.set({"model." + model + ".cache", "dual", "bench"});
  for (const auto& [key, value] : line.overrides)
    if (key.rfind("bench.", 0) != 0) config.set({key, value, "--" + key});
  const Composition composition = compose(config, registries, faults);
  faults.raise();
  const Precision dtype = composition.run.machine.dtype;
  // The best that the machine does is measured in what x is multiplied in.
  const bool bf16 = dtype == Precision::bf16;
  const double size = bytes_of_weight(dtype);
  const int threads =
      composition.run.machine.threads > 0 ? composition.run.machine.threads : usable_threads();
  if (!made.path.empty())
    write_random_weights(folder, dtype == Precision::f32 ? ElementType::f32 : ElementType::bf16);

  static const auto product_speed = reinterpret_cast<decltype(&draftlab_product_speed)>(
      module_function("draftlab_torch", "draftlab_product_speed"));
  // This memory includes libtorch.
  const std::int64_t before = memory("VmRSS:");
  const auto began = std::chrono::steady_clock::now();
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  Model& target = models.target();
  const double load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const std::int64_t peak = memory("VmHWM:");
  const ModelFacts facts = target.facts();
  std::uint64_t stored = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") stored += entry.file_size();
  std::printf("%s: %s, %lld parameters, %s, threads %d\n", line.paths[1].c_str(),
              facts.family.c_str(), static_cast<long long>(facts.parameters), word(dtype).data(),
              threads);
  std::printf(
      "  loaded in %.1f s; %.2f GB of files; at most %.2f GB resident (%.2f GB before), which is "
      "%.2f of the files more\n",
      load_seconds, 1e-9 * static_cast<double>(stored), 1e-9 * static_cast<double>(peak),
      1e-9 * static_cast<double>(before),
      static_cast<double>(peak - before) / static_cast<double>(stored));
  std::fflush(stdout);

  std::int64_t block = options.block;
  if (block == 0)
    block = model == "block-diffusion" ? TransformerConfig::read(folder).block_size : 8;
  std::vector<std::pair<std::int32_t, Token>> given;
  for (std::int64_t i = 0; i < options.prompt; ++i)
    given.emplace_back(static_cast<std::int32_t>(i),
                       static_cast<Token>((i * 7919 + 11) % (facts.vocabulary - 10)));
  // The prompt has whole blocks.
  const std::int64_t prompt = options.prompt / block * block;
  given.resize(prompt);
  if (prompt == 0)
    throw ConfigError("bench.prompt = {} is shorter than a block of {}", options.prompt, block);
  const Canvas canvas(static_cast<int>(prompt + block), given);
  const Blocks blocks{static_cast<std::int32_t>(block), 0};
  const std::vector<Pass> all =
      passes(model, model == "block-diffusion" && TransformerConfig::read(folder).right_shifted(),
             prompt, block);
  // A pass and what this machine could do are measured within seconds of each other, because the
  // speed of a machine that others use, too, halves and doubles. Shares are medians of such pairs,
  // and times are the fastest.
  std::vector<double> seconds(all.size(), 1e30);
  std::vector<std::vector<double>> of_product(all.size()), of_read(all.size());
  std::vector<Count> rows(all.size());
  std::vector<std::int64_t> asked(all.size());
  // A prompt's rows see half of it on average where they see only the tokens before them, and all
  // of it in any-subset and masked diffusion.
  const bool half = model == "block-diffusion" || model == "autoregressive";
  const auto seen = [&](std::size_t pass) {
    return half && pass == 0 ? (prompt + block) / 2 : prompt + block;
  };
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  double library = 0, product = 0, read = 0;
  const Work work(folder, facts.parameters);
  for (std::int64_t time = 0; time < options.times; ++time) {
    double libtorch = 0, own = 0;
    product_speed(bf16, threads, &libtorch, &own);
    const double product_now = std::max(libtorch, own), read_now = read_speed(threads);
    library = std::max(library, libtorch), product = std::max(product, product_now),
    read = std::max(read, read_now);
    const auto sequence = target.open(canvas, blocks);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::optional<Question> question =
          all[i].question ? all[i].question : target.due(*sequence);
      if (!question) throw Fault("a fresh sequence needs no forward of the prompt");
      const Count start = sequence->counts()[question->kind];
      Answer answer;
      Pending pending{sequence.get(), &*question, &answer};
      target.answer({&pending, 1});
      const Count& end = sequence->counts()[question->kind];
      const double took = 1e-9 * static_cast<double>(end.ns - start.ns);
      seconds[i] = std::min(seconds[i], took);
      rows[i] = {.calls = 1, .positions = end.positions - start.positions};
      asked[i] = 0;
      for (const Ask& ask : question->asks)
        asked[i] += static_cast<std::int64_t>(ask.positions.size());
      of_product[i].push_back(work.operations(rows[i], asked[i], seen(i)) / took / product_now);
      of_read[i].push_back(work.bytes(rows[i], asked[i], size) / took / read_now);
    }
  }

  std::printf(
      "  this machine at best: a product %.0f GFLOP/s (libtorch's %.0f), a read %.1f GB/s\n",
      1e-9 * product, 1e-9 * library, 1e-9 * read);
  std::printf("  %-14s %6s %10s %10s %10s %8s %10s\n", "pass", "rows", "ms", "GFLOP/s",
              "of product", "GB/s", "of read");
  Json out{{"shape", line.paths[1]},       {"family", facts.family},
           {"dtype", word(dtype)},         {"threads", threads},
           {"load_seconds", load_seconds}, {"file_bytes", stored},
           {"resident_bytes", peak},       {"resident_bytes_before", before},
           {"product_flops", product},     {"libtorch_product_flops", library},
           {"read_bytes_per_second", read}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double flops = work.operations(rows[i], asked[i], seen(i)) / seconds[i],
                 bytes = work.bytes(rows[i], asked[i], size) / seconds[i];
    const double product_share = median(of_product[i]), read_share = median(of_read[i]);
    std::printf("  %-14s %6lld %10.2f %10.0f %8.0f %% %8.1f %8.0f %%\n", all[i].name.c_str(),
                static_cast<long long>(rows[i].positions), 1e3 * seconds[i], 1e-9 * flops,
                100 * product_share, 1e-9 * bytes, 100 * read_share);
    out["passes"].push_back({{"name", all[i].name},
                             {"rows", rows[i].positions},
                             {"seconds", seconds[i]},
                             {"flops", flops},
                             {"product_share", product_share},
                             {"weight_bytes_per_second", bytes},
                             {"read_share", read_share}});
  }
  if (!flags.out.empty()) write_whole(flags.out, out.dump(2) + "\n");
  return 0;
}

}  // namespace draftlab
