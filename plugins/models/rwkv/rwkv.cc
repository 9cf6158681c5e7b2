// The model `rwkv`: RWKV of version 5.2 (Eagle, arXiv 2404.05892) or 7 (Goose, arXiv 2503.14456),
// whose memory of a text is a state of fixed size. It is computed in f32, on one thread.
#include <optional>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/config/rollback_options.h"
#include "plugins/models/rwkv/rwkv_net.h"

namespace draftlab {
namespace {

class Rwkv final : public RecurrentModel {
 public:
  struct Options {
    std::string checkpoint;
    RollbackRules rules;
    double head_epsilon = 0;
    std::int64_t longest = 0;
    void declare(OptionSet& set) {
      set.add("checkpoint", &checkpoint)
          .help(
              "File of rwkv.cpp (f32, f16), or *.safetensors in the names of PyTorch checkpoints.");
      add_rollback(set, &rules);
      set.add("head_epsilon", &head_epsilon)
          .in(0, 1)
          .help(
              "Added to the variance of a head; 0: 1e-5 in 5.2, as rwkv.cpp has it, 64e-5 in 7. "
              "PyTorch code that divides heads by 8 has 64e-5 in 5.2, too.");
      set.add("longest", &longest)
          .in(0, 1 << 24)
          .help("Longest canvas; 0: any, for the state does not grow.");
    }
  };
  explicit Rwkv(const Options& options) : RecurrentModel(options.rules), options_(options) {}

  void load(const Machine& machine) override {
    if (options_.checkpoint.empty())
      throw ConfigError("model.rwkv.checkpoint must name a file of an RWKV model");
    if (machine.device != Device::cpu || machine.dtype != Precision::f32)
      throw ConfigError(
          "model rwkv is computed on the CPU in f32: run.device must be cpu and run.dtype f32");
    RwkvWeights weights = read_rwkv(options_.checkpoint);
    const bool seven = weights.version == RwkvVersion::v7;
    facts_.vocabulary = static_cast<int>(weights.vocabulary);
    facts_.longest = static_cast<int>(options_.longest);
    facts_.family = seven ? "rwkv-7" : "rwkv-5.2";
    facts_.checkpoint = options_.checkpoint;
    facts_.digest = weights.digest;
    facts_.parameters = weights.parameters;
    const double epsilon = options_.head_epsilon > 0 ? options_.head_epsilon : seven ? 64e-5 : 1e-5;
    net_.emplace(std::move(weights), epsilon);
  }

 protected:
  ModelFacts described() const override { return facts_; }
  std::size_t state_size() const override { return net_->state_size(); }
  std::int64_t layers() const override {
    return static_cast<std::int64_t>(net_->weights().layers.size());
  }
  void run(std::span<const RecurrentRow> rows) override { net_->run(rows); }

 private:
  Options options_;
  ModelFacts facts_;
  std::optional<RwkvNet> net_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(model, rwkv) {
  using draftlab::Form;
  registries.models.add<draftlab::Rwkv>(
      "rwkv", "RWKV 5.2 and 7: a recurrent model whose state is taken back over rejected drafts",
      {Form::committed, Form::chain});
}
