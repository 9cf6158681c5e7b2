// An exact toy with a state of four numbers, for certificates of how a state is taken back
// (recurrent_net.h has its two networks, core/model/recurrent.h the ways of going back).
#include "core/config/plugin.h"
#include "core/config/rollback_options.h"
#include "plugins/models/toy/recurrent_net.h"

namespace draftlab {
namespace {

class Recurrent final : public RecurrentModel {
 public:
  struct Options {
    RecurrentKind kind = RecurrentKind::delta;
    std::int64_t vocabulary = 2, seed = 7;
    RollbackRules rules;
    void declare(OptionSet& set) {
      set.add("kind", &kind).help("Layers like those of RWKV-7, or one like that of Mamba-2.");
      set.add("vocabulary", &vocabulary).in(2, 8).help("Tokens.");
      set.add("seed", &seed).in(0, 1e15).help("Seed of the weights; run.seed does not change it.");
      add_rollback(set, &rules);
    }
  };
  explicit Recurrent(const Options& options)
      : RecurrentModel(options.rules),
        options_(options),
        net_(options.kind, static_cast<int>(options.vocabulary),
             static_cast<std::uint64_t>(options.seed)) {}

  void load(const Machine&) override {}

 protected:
  ModelFacts described() const override {
    ModelFacts facts;
    facts.vocabulary = static_cast<int>(options_.vocabulary);
    facts.family = "recurrent";
    facts.parameters = net_.parameters();
    return facts;
  }
  std::size_t state_size() const override { return kToyState; }
  void run(std::span<const RecurrentRow> rows) override {
    for (const RecurrentRow& row : rows) {
      const RecurrentNet::Step step = net_.read(row.token, row.before, row.after);
      if (row.logits) net_.logits(step, row.logits);
    }
  }

 private:
  Options options_;
  RecurrentNet net_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(model, recurrent) {
  using draftlab::Form;
  registries.models.add<draftlab::Recurrent>(
      "recurrent", "an exact toy with a state of four numbers, for certificates of rollback",
      {Form::committed, Form::chain});
}
