// Drafts vector tokens (continuous speculative decoding): model.draft draws them, one after the
// other or several from the committed state. The target itself draws them where no draft model is
// named, and for the first part of every sequence (pre-filling, CSpD Sec. 4.3). The sites of the
// noise depend neither on the model nor, where a position is drafted for the first time, on the
// step. So arms that decode in one order share the noise.
#include <algorithm>

#include "core/config/plugin.h"
#include "core/parts/vector_draw.h"

namespace draftlab {
namespace {

class Diffusion final : public Drafter {
 public:
  struct Options {
    bool together = false, final_noise = true;
    double prefill = 0;
    void declare(OptionSet& set) {
      set.add("together", &together)
          .help(
              "Draw the step's tokens from the committed state alone, without sight of one "
              "another: with router = never, the model at draft_length tokens a step (MAR).");
      set.add("prefill", &prefill)
          .in(0, 1)
          .help(
              "Share of the generated positions, the first ones, that the target decodes alone, "
              "one by one.");
      set.add("final_noise", &final_noise)
          .help(
              "Draw the last reverse step, too; false: take its mean, as MAR does, which leaves no "
              "density, so only the published rules verify.");
    }
  };
  explicit Diffusion(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::committed, Form::reverse}; }
  bool is_sequential(bool has_draft_model) const override {
    return !has_draft_model && !options_.together;
  }

  Asking<Proposal> propose(const Step& step) const override {
    const Canvas& canvas = step.canvas;
    const bool alone = prefilling(canvas, canvas.committed());
    const int model = alone || step.models.size() == 1 ? 0 : 1;
    const std::size_t count = alone ? 1 : step.most_drafts();
    const bool together = options_.together && !alone;

    Proposal proposal;
    for (std::size_t first = 0; first < count;) {
      const auto begin = step.window.positions.begin() + static_cast<std::ptrdiff_t>(first);
      const std::vector<std::int32_t> positions(
          begin, begin + static_cast<std::ptrdiff_t>(together ? count : 1));
      const int before = static_cast<int>(first) - 1;
      Question question{.kind = Kind::draft,
                        .view = step.models[model].view,
                        .nodes = proposal.nodes,
                        .asks = {{before, positions}}};
      const Answer answer = co_await step.ask(std::move(question), model);

      std::vector<Trajectory> tokens;
      for (std::size_t i = 0; i < positions.size(); ++i) {
        const Normals noise = noise_of(step, positions[i], first + i);
        tokens.push_back(begin_token(
            step, answer.condition(before, positions[i]), model,
            noise(0, step.models[model].reverse_steps + 1, step.models[model].dimension)));
        tokens.back().final_noise = options_.final_noise;
      }
      const Normals noise = [&](std::size_t token, int t, int normals) {
        return noise_of(step, positions[token], first + token)(0, t, normals);
      };
      Asking<bool> drawing = draw_down(step, tokens, 0, noise);
      co_await drawing;
      for (std::size_t i = 0; i < positions.size(); ++i) {
        proposal.nodes.push_back(
            {static_cast<int>(first + i) - 1, positions[i], 0, tokens[i].states.back()});
        proposal.trajectories.push_back(std::move(tokens[i]));
      }
      first += positions.size();
    }
    if (model == 0)
      proposal.exact = static_cast<int>(together ? std::min<std::size_t>(1, count) : count);
    co_return proposal;
  }

  void begin(const Blocks&, const DecodeOptions& decode) override {
    draft_length_ = decode.draft_length;
  }
  void observe(const Canvas& canvas, const Route&, const Verdict& verdict) override {
    const auto before = canvas.committed() - static_cast<std::int64_t>(verdict.commits.size());
    reach_ = std::max(reach_, before + (prefilling(canvas, before) ? 1 : draft_length_));
  }
  std::string state() const override { return std::to_string(reach_); }

 private:
  bool prefilling(const Canvas& canvas, std::int64_t committed) const {
    return static_cast<double>(committed) <
           options_.prefill * (canvas.length() - canvas.prompt_size());
  }

  // Returns the noise of the draft that lies `ahead` places behind the last committed token. A
  // frontier opens positions in an order, so what lies beyond all that was ever drafted is new: no
  // decision used its noise.
  Normals noise_of(const Step& step, std::int32_t position, std::size_t ahead) const {
    const bool fresh = step.canvas.committed() + static_cast<std::int64_t>(ahead) >= reach_;
    Site site = step.site(position, Purpose::noise);
    site.clock = fresh ? 0 : step.clock + 1;
    return normals_at(step, site);
  }

  Options options_;
  std::int64_t draft_length_ = 1;
  // How many tokens of the order of commitment may have been drafted, committed ones included.
  std::int64_t reach_ = 0;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, diffusion) {
  registries.drafters.add<draftlab::Diffusion>(
      "diffusion",
      "vector tokens from model.draft, or the target where none is named (MAR, continuous "
      "speculative decoding)");
}
