// Measures what the passes of decoding cost with a checkpoint, or with random weights in a
// published shape: prefill, one denoising pass, one verification pass, one cached step. It prints
// operations and bytes a second beside what this machine does at best.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/cores.h"
#include "core/base/error.h"
#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "experiments/bench/bench.h"
#include "experiments/bench/model_passes.h"
#include "plugins/models/bench/machine_speed.h"
#include "plugins/models/bench/random_checkpoint.h"
#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/torch_module.h"
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

std::string model_of(const std::string& folder) {
  if (ConfigFile::in(folder).family() == "xlnet") return "any-subset";
  const TransformerConfig config = TransformerConfig::read(folder);
  if (config.model_type == "llada" || config.model_type == "Dream" || config.sedd())
    return "masked-diffusion";
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

// The fastest time of a pass, and the shares of what the machine could do at the same time.
struct Timed {
  double seconds = 1e30;
  std::vector<double> of_product, of_read;
  Count rows;
  std::int64_t asked = 0;
};

// What this machine does at best, in operations and bytes a second.
struct MachineSpeed {
  double library = 0, product = 0, read = 0;

  // Measures once more. Returns what the machine does now.
  MachineSpeed measure(bool bf16, int threads) {
    static const auto product_speed =
        torch_function<decltype(draftlab_product_speed)>("draftlab_product_speed");
    MachineSpeed now;
    double own = 0;
    product_speed(bf16, threads, &now.library, &own);
    now.product = std::max(now.library, own), now.read = read_speed(threads);
    library = std::max(library, now.library), product = std::max(product, now.product),
    read = std::max(read, now.read);
    return now;
  }
};

// The model that is measured: a checkpoint, or random weights in a published shape, which lie in a
// temporary folder.
class MeasuredModel {
 public:
  MeasuredModel(const std::string& name, const CommandLine& line, const Registries& registries)
      : name_(name), folder_(name) {
    if (!std::filesystem::exists(folder_ + "/config.json")) {
      folder_ = made_.path = temporary_name("");
      write_published_config(name, folder_);
    }
    model_ = model_of(folder_);
    BenchConfig config{base_of(model_), {{"model." + model_ + ".checkpoint", folder_, "bench"}}};
    if (model_ == "masked-diffusion")
      config.settings.push_back({"model." + model_ + ".cache", "dual", "bench"});
    composition_ = compose_bench(config, line, registries);
    if (!made_.path.empty())
      write_random_weights(folder_,
                           dtype() == Precision::f32 ? ElementType::f32 : ElementType::bf16);
    load();
  }

  Precision dtype() const { return composition_.run.machine.dtype; }
  int threads() const {
    const int wanted = composition_.run.machine.threads;
    return wanted > 0 ? wanted : usable_threads();
  }
  const std::string& model() const { return model_; }
  const std::string& folder() const { return folder_; }
  Model& target() const { return models_.target(); }
  ModelFacts facts() const { return target().facts(); }
  bool in_blocks() const { return model_ == "block-diffusion"; }
  // The positions of a pass where the benchmark does not say them.
  std::int64_t block() const {
    return in_blocks() ? TransformerConfig::read(folder_).block_size : 8;
  }
  bool right_shifted() const {
    return in_blocks() && TransformerConfig::read(folder_).right_shifted();
  }

  // What was loaded, as lines of a table.
  std::vector<std::vector<std::string>> loading() const {
    return {{"parameters, millions", fixed(1e-6 * static_cast<double>(facts().parameters), 1)},
            {"loaded in, s", fixed(seconds_, 1)},
            {"files, GB", fixed(1e-9 * static_cast<double>(stored_), 2)},
            {"resident at most, GB", fixed(1e-9 * static_cast<double>(peak_), 2)},
            {"resident before, GB", fixed(1e-9 * static_cast<double>(before_), 2)},
            {"the difference, of the files",
             fixed(static_cast<double>(peak_ - before_) / static_cast<double>(stored_), 2)}};
  }
  // "sdar-1.7b: SDAR, bf16, threads 2"
  std::string title() const {
    return name_ + ": " + facts().family + ", " + std::string(word(dtype())) + ", threads " +
           std::to_string(threads());
  }
  Json json() const {
    return {{"shape", name_},          {"family", facts().family},        {"dtype", word(dtype())},
            {"threads", threads()},    {"load_seconds", seconds_},        {"file_bytes", stored_},
            {"resident_bytes", peak_}, {"resident_bytes_before", before_}};
  }

 private:
  void load() {
    // libtorch is loaded before, so that what is measured includes none of it.
    torch_function<decltype(draftlab_product_speed)>("draftlab_product_speed");
    before_ = memory("VmRSS:");
    const auto began = std::chrono::steady_clock::now();
    models_ = load_models(composition_, composition_.run.machine, loaded_);
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    peak_ = memory("VmHWM:");
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().extension() == ".safetensors") stored_ += entry.file_size();
  }

  const std::string name_;
  std::string folder_, model_;
  Temporary made_;
  Composition composition_;
  Loaded loaded_;
  Models models_;
  std::int64_t before_ = 0, peak_ = 0;
  std::uint64_t stored_ = 0;
  double seconds_ = 0;
};

// Measures the passes of a model over `block` positions behind a prompt.
class PassBench {
 public:
  PassBench(const MeasuredModel& measured, std::int64_t prompt, std::int64_t block)
      : measured_(measured),
        prompt_(prompt),
        block_(block),
        work_(measured.folder(), measured.facts().parameters),
        size_(bytes_of_weight(measured.dtype())),
        passes_(passes(measured.model(), measured.right_shifted(), prompt, block)),
        timed_(passes_.size()) {}

  // A pass and what this machine could do are measured within seconds of each other, because the
  // speed of a machine that others use, too, halves and doubles. Shares are medians of such pairs,
  // and times are the fastest.
  void measure(std::int64_t times) {
    std::vector<std::pair<std::int32_t, Token>> given;
    const int vocabulary = measured_.facts().vocabulary;
    for (std::int64_t i = 0; i < prompt_; ++i)
      given.emplace_back(static_cast<std::int32_t>(i),
                         static_cast<Token>((i * 7919 + 11) % (vocabulary - 10)));
    const Canvas canvas(static_cast<int>(prompt_ + block_), given);
    const Blocks blocks{static_cast<std::int32_t>(block_), 0};
    for (std::int64_t time = 0; time < times; ++time) {
      // The best that the machine does is measured in what x is multiplied in.
      const MachineSpeed now =
          speed_.measure(measured_.dtype() == Precision::bf16, measured_.threads());
      const auto sequence = measured_.target().open(canvas, blocks);
      for (std::size_t i = 0; i < passes_.size(); ++i) time_pass(i, *sequence, now);
    }
  }

  // Prints the machine and the passes, and adds them to the file's numbers.
  void report(const BenchFlags& flags, Json& out) const {
    out["product_flops"] = speed_.product;
    out["libtorch_product_flops"] = speed_.library;
    out["read_bytes_per_second"] = speed_.read;
    TextTable loaded{{"what", "measured"}, measured_.loading()};
    loaded.rows.push_back({"the machine's best product, GFLOP/s", fixed(1e-9 * speed_.product, 0)});
    loaded.rows.push_back({"libtorch's, GFLOP/s", fixed(1e-9 * speed_.library, 0)});
    loaded.rows.push_back({"the machine's best read, GB/s", fixed(1e-9 * speed_.read, 1)});
    flags.print(measured_.title(), loaded);
    TextTable table{{"pass", "rows", "ms", "GFLOP/s", "of the product", "GB/s", "of the read"}, {}};
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      const Timed& timed = timed_[i];
      const double flops = operations(i) / timed.seconds, bytes = this->bytes(i) / timed.seconds;
      const Quartiles of_product(timed.of_product), of_read(timed.of_read);
      table.rows.push_back({passes_[i].name, std::to_string(timed.rows.positions),
                            fixed(1e3 * timed.seconds, 2), fixed(1e-9 * flops, 0),
                            fixed(100 * of_product.median(), 0) + " %", fixed(1e-9 * bytes, 1),
                            fixed(100 * of_read.median(), 0) + " %"});
      out["passes"].push_back({{"name", passes_[i].name},
                               {"rows", timed.rows.positions},
                               {"seconds", timed.seconds},
                               {"flops", flops},
                               {"product_share", of_product.median()},
                               {"weight_bytes_per_second", bytes},
                               {"read_share", of_read.median()}});
    }
    flags.print("Passes: the fastest time, and medians of shares", table);
  }

 private:
  void time_pass(std::size_t i, Sequence& sequence, const MachineSpeed& now) {
    const std::optional<Question> question =
        passes_[i].question ? passes_[i].question : measured_.target().due(sequence);
    if (!question) throw Fault("a fresh sequence needs no forward of the prompt");
    const Count start = sequence.counts()[question->kind];
    Answer answer;
    Pending pending{&sequence, &*question, &answer};
    measured_.target().answer({&pending, 1});
    const Count& end = sequence.counts()[question->kind];
    const double took = 1e-9 * static_cast<double>(end.ns - start.ns);
    Timed& timed = timed_[i];
    timed.seconds = std::min(timed.seconds, took);
    timed.rows = {.calls = 1, .positions = end.positions - start.positions};
    timed.asked = 0;
    for (const Ask& ask : question->asks)
      timed.asked += static_cast<std::int64_t>(ask.positions.size());
    timed.of_product.push_back(operations(i) / took / now.product);
    timed.of_read.push_back(bytes(i) / took / now.read);
  }
  double operations(std::size_t i) const {
    // A prompt's rows see half of it on average where they see only the tokens before them, and all
    // of it in any-subset and masked diffusion.
    const bool half = i == 0 && (measured_.in_blocks() || measured_.model() == "autoregressive");
    const std::int64_t seen = prompt_ + block_;
    return work_.operations(timed_[i].rows, timed_[i].asked, half ? seen / 2 : seen);
  }
  double bytes(std::size_t i) const { return work_.bytes(timed_[i].rows, timed_[i].asked, size_); }

  const MeasuredModel& measured_;
  const std::int64_t prompt_, block_;
  const Work work_;
  const double size_;
  const std::vector<Pass> passes_;
  std::vector<Timed> timed_;
  MachineSpeed speed_;
};

}  // namespace

int bench_checkpoint(const BenchFlags& flags, const CommandLine& line) {
  if (!flags.out.empty() || flags.format != TableForm::text)
    throw UsageError("draftlab bench checkpoint measures nothing and takes no --out or --format");
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
  const MeasuredModel measured(line.paths[1], line, registries);
  const std::int64_t block = options.block > 0 ? options.block : measured.block();
  // The prompt has whole blocks.
  const std::int64_t prompt = options.prompt / block * block;
  if (prompt == 0)
    throw ConfigError("bench.prompt = {} is shorter than a block of {}", options.prompt, block);
  PassBench bench(measured, prompt, block);
  bench.measure(options.times);
  Json out = measured.json();
  bench.report(flags, out);
  flags.write(out);
  return 0;
}

}  // namespace draftlab
