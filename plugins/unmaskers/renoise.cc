// The rule of DiffusionGemma (Google, 2026), for models that read a random canvas. A step draws
// every position of the block and shows the draws of the lowest entropies, as many as the entropy
// bound allows (Ben-Hamu et al., 2025). All other positions show new noise in the next step, those
// too that were shown before. Nothing is committed until the most probable tokens are those of the
// steps before and their mean entropy is low, or decode.steps are over: then the block is filled
// with the most probable tokens, and not with draws. Published are 48 steps for blocks of 256,
// decode.temperature = .8 and temperature_last = .4, and entropies of what is drawn from
// (decode.reads = drawn). The self-conditioning of that model is left out.
#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/unmasker.h"

namespace draftlab {
namespace {

// What the block is filled with at the end.
enum class Filled { likeliest, drawn };
constexpr std::array<std::string_view, 2> words(Filled) { return {"likeliest", "drawn"}; }

class Renoise final : public Unmasker {
 public:
  struct Options {
    double bound = 0.1, entropy = 0.005;
    std::int64_t stable = 1;
    Filled fill = Filled::likeliest;
    void declare(OptionSet& set) {
      set.add("bound", &bound)
          .in(0, 1000)
          .help("Nats that the entropies of what a step shows may sum to, the largest left out.");
      set.add("entropy", &entropy)
          .in(0, 1000)
          .help("A block may end early where the mean entropy of its positions is below this.");
      set.add("stable", &stable)
          .in(0, 4096)
          .help("Steps whose most probable tokens must be those of the last one for that.");
      set.add("fill", &fill)
          .help("What fills the block at the end: the likeliest tokens, or the last step's draws.");
    }
  };
  explicit Renoise(const Options& options) : options_(options) {}
  std::vector<DecodeKey> reads() const override { return {DecodeKey::steps}; }
  bool shows() const override { return true; }

  Verdict choose(const Step& step, const Proposal& proposal) const override {
    Verdict verdict;
    verdict.why = Stop::unverified;
    const bool ends = last(step) || settled(proposal);
    if (ends && options_.fill == Filled::likeliest) {
      const std::vector<Token> tokens = likeliest(proposal);
      for (std::size_t i = 0; i < tokens.size(); ++i)
        verdict.commits.push_back({proposal.nodes[i].position, tokens[i], Source::threshold});
    } else if (ends) {
      for (const Node& node : proposal.nodes)
        verdict.commits.push_back(commit_of(node, Source::threshold));
    } else {
      for (const std::size_t draft : sure(proposal))
        verdict.shown.push_back(commit_of(proposal.nodes[draft], Source::threshold));
    }
    return verdict;
  }

  int preview(const Step&, const Proposal& proposal) const override {
    return static_cast<int>(sure(proposal).size());
  }
  Verdict top_up(const Step&, const Proposal&, Verdict verdict) const override { return verdict; }

  void observe(const Canvas&, const Route&, const Verdict& verdict) override {
    const std::vector<Token> now =
        verdict.commits.empty() ? likeliest(*verdict.proposal) : std::vector<Token>();
    alike_ = now == likeliest_ ? std::min(alike_ + 1, options_.stable) : !now.empty();
    likeliest_ = now;
  }
  std::string state() const override {
    std::string text = std::to_string(alike_);
    for (const Token token : likeliest_) text += " " + std::to_string(token);
    return text;
  }

 private:
  // The drafts whose draws are shown: those of the lowest entropies, the leftmost among equals, as
  // long as the entropies before stay within the bound.
  std::vector<std::size_t> sure(const Proposal& proposal) const {
    const std::vector<double> entropies = entropies_of(proposal);
    std::vector<std::size_t> drafts(entropies.size());
    std::iota(drafts.begin(), drafts.end(), 0);
    std::stable_sort(drafts.begin(), drafts.end(),
                     [&](std::size_t a, std::size_t b) { return entropies[a] < entropies[b]; });
    std::size_t count = 0;
    for (double sum = 0; count < drafts.size() && sum <= options_.bound; ++count)
      sum += entropies[drafts[count]];
    drafts.resize(count);
    return drafts;
  }

  // What is read of a draft; nullptr where it is a point mass, which has no entropy.
  static const Distribution* law(const Proposal& proposal, std::size_t draft) {
    const auto& laws = proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
    return laws.empty() || laws[draft].empty() ? nullptr : &laws[draft];
  }
  static std::vector<double> entropies_of(const Proposal& proposal) {
    std::vector<double> entropies(proposal.nodes.size(), 0);
    for (std::size_t i = 0; i < entropies.size(); ++i)
      if (const Distribution* const its = law(proposal, i)) entropies[i] = its->entropy();
    return entropies;
  }
  static std::vector<Token> likeliest(const Proposal& proposal) {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < proposal.nodes.size(); ++i) {
      const Distribution* const its = law(proposal, i);
      tokens.push_back(its ? its->argmax() : proposal.nodes[i].token);
    }
    return tokens;
  }

  bool last(const Step& step) const {
    const std::int32_t at = step.window.positions.front();
    const std::int32_t size = step.blocks.end(at, step.canvas.length()) - step.blocks.first(at);
    return step.made + 1 >= step.decode.block_steps(size);
  }

  // Whether the block may end early: it is stable and confident.
  bool settled(const Proposal& proposal) const {
    const std::vector<double> entropies = entropies_of(proposal);
    const double sum = std::accumulate(entropies.begin(), entropies.end(), 0.0);
    const bool stable =
        options_.stable == 0 || (alike_ >= options_.stable && likeliest(proposal) == likeliest_);
    return stable && sum < options_.entropy * static_cast<double>(entropies.size());
  }

  Options options_;
  // The most probable tokens of the last step, and how many steps in a row had them, which counts
  // up to `stable`; none where a block begins.
  std::vector<Token> likeliest_;
  std::int64_t alike_ = 0;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(unmasker, renoise) {
  registries.unmaskers.add<draftlab::Renoise>(
      "renoise",
      "draws of low entropy stay on the canvas, all else is noise again; at the end the likeliest "
      "tokens (DiffusionGemma)");
}
