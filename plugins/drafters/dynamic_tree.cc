// A draft model, the target's own shallow answers or its prediction heads grow a tree where they
// are confident (EAGLE-2, Li et al., 2024; with prediction heads the trees of Medusa, Cai et al.,
// 2024, of whose heads all nodes of a level have the same law). Of all nodes that were looked at
// the best `nodes` are drafted, by the product of the probabilities on the way to them. A diffusion
// draft model tells the law of every level in one forward, and the tree is made of the product of
// these marginals (DDTree, Ringel and Romano, 2026). Later tokens then do not see the drafts before
// them; a correction asks, in one more forward, what follows each node of the tree, and grows it
// again from these conditionals.
//
// By default nothing is drawn: every draft is a point mass, and so the shape may depend on the
// distributions, and the drafts of a node differ. Where the laws of all levels are told before
// anything is drawn, tokens may be drawn instead, in a shape that only depends on these laws.
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/drafter.h"
#include "plugins/drafters/asked_models.h"
#include "plugins/drafters/marginal_tree.h"
#include "plugins/drafters/path_tree.h"

namespace draftlab {
namespace {

// Who says what is probable: model.draft, the target's shallow answers (drafter `shallow`), its
// prediction heads (drafter `heads`), or model.draft for all levels at once (drafter `at-once`).
enum class Guide { draft, shallow, heads, at_once };
constexpr std::array<std::string_view, 4> words(Guide) {
  return {"draft", "shallow", "heads", "at-once"};
}

enum class TreeChoice { best, drawn };
constexpr std::array<std::string_view, 2> words(TreeChoice) { return {"best", "drawn"}; }

class DynamicTree final : public Drafter {
 public:
  struct Options {
    std::int64_t width = 10, nodes = 59, corrections = 0;
    Guide guide = Guide::draft;
    TreeChoice choice = TreeChoice::best;
    void declare(OptionSet& set) {
      set.add("width", &width)
          .in(1, 64)
          .help(
              "Nodes of each level that are drafted on, and tokens tried behind each; "
              "decode.draft_length is the number of levels.");
      set.add("nodes", &nodes)
          .in(1, 4096)
          .help(
              "Drafts that are verified: the best of all levels by the product of probabilities.");
      set.add("guide", &guide)
          .help(
              "The laws that the tree follows: those of model.draft; the target's own shallow ones "
              "(its first layers, feature head or Hydra heads); those of its prediction heads "
              "(Medusa), which the last verification answered; or the marginals of a diffusion "
              "model.draft, which tells all levels in one forward (DDTree).");
      set.add("corrections", &corrections)
          .in(0, 64)
          .help(
              "With guide = at-once: forwards of model.draft that ask what follows each node of "
              "the tree, which then grows again from the answers.");
      set.add("choice", &choice)
          .help(
              "With guide = heads or at-once: the tokens of the tree are the best ones, surely; or "
              "are drawn without replacement, in the shape that the best ones would have.");
    }
  };
  explicit DynamicTree(const Options& options)
      : options_(options),
        marginal_{.width = options.width,
                  .nodes = options.nodes,
                  .corrections = options.corrections,
                  .heads = heads(),
                  .drawn = options.choice == TreeChoice::drawn} {
    if (options.corrections > 0 && options.guide != Guide::at_once)
      throw ConfigError(
          "drafter.dynamic-tree.corrections = {} needs guide = at-once; with other guides there is "
          "no law to correct",
          options.corrections);
    if (marginal_.drawn && (!told_ahead() || options.corrections > 0))
      throw ConfigError(
          "drafter.dynamic-tree.choice = drawn needs laws that are told before anything is drawn: "
          "guide = heads or at-once, and corrections = 0");
  }
  std::vector<Form> asks() const override {
    if (options_.guide == Guide::shallow) return {Form::shallow, Form::committed};
    return heads() ? std::vector{Form::committed} : std::vector<Form>{};
  }
  std::vector<Form> asks_draft_model() const override {
    if (options_.guide == Guide::draft) return {Form::committed, Form::chain};
    if (options_.guide != Guide::at_once) return {};
    return options_.corrections > 0 ? std::vector{Form::committed, Form::branches}
                                    : std::vector{Form::committed};
  }

  Asking<Proposal> propose(const Step& step) const override {
    return told_ahead() ? grow_marginal_tree(step, marginal_) : level_by_level(step);
  }

 private:
  bool heads() const { return options_.guide == Guide::heads; }
  bool told_ahead() const { return heads() || options_.guide == Guide::at_once; }

  Asking<Proposal> level_by_level(const Step& step) const {
    const std::vector<std::int32_t>& window = step.window.positions;
    const auto levels = step.most_drafts();
    const bool shallow = options_.guide == Guide::shallow;
    PathTree tree(options_.width);
    for (std::size_t level = 0; level < levels; ++level) {
      const std::int32_t position = window[level];
      Question question{
          .kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {}, .shallow = shallow};
      tree.ask(position, question);
      const std::vector<Ask> asks = question.asks;
      const Answer answer = co_await step.ask(std::move(question), shallow ? kTarget : kDraftModel);
      std::vector<Distribution> laws;
      for (const Ask& ask : asks) laws.push_back(answer.at(ask.node, position));
      tree.grow(laws, position);
    }
    co_return tree.best(options_.nodes);
  }

  Options options_;
  MarginalTree marginal_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, dynamic_tree) {
  registries.drafters.add<draftlab::DynamicTree>(
      "dynamic-tree",
      "the most probable paths of model.draft, of the target's shallow answers, of its prediction "
      "heads (Medusa) or of a diffusion draft's marginals (DDTree), as a tree (EAGLE-2); lossless");
}
