// A random order of the masked positions, drawn once a sequence (MAR). A step opens one position,
// or as many as a cosine schedule over decode.steps leaves.
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/frontier.h"

namespace draftlab {
namespace {

// How many positions a step opens.
enum class Schedule { none, cosine };
constexpr std::array<std::string_view, 2> words(Schedule) { return {"none", "cosine"}; }

class RandomOrder final : public Frontier {
 public:
  struct Options {
    Schedule schedule = Schedule::none;
    void declare(OptionSet& set) {
      set.add("schedule", &schedule)
          .help(
              "A step's window: all that is left; or so much that floor(L cos(pi/2 (s + 1)/S)) "
              "positions are left behind step s of decode.steps, one token a step at least (MAR).");
    }
  };
  explicit RandomOrder(const Options& options) : cosine_(options.schedule == Schedule::cosine) {}

  std::vector<DecodeKey> reads() const override {
    return cosine_ ? std::vector{DecodeKey::steps} : std::vector<DecodeKey>();
  }
  void begin(const Blocks&, const DecodeOptions& decode) override {
    steps_ = decode.steps;
    if (cosine_ && steps_ == 0)
      throw ConfigError(
          "frontier.random.schedule = cosine needs a number of steps; set decode.steps");
  }
  void check(const Canvas& canvas) const override {
    const int generated = canvas.length() - canvas.prompt_size();
    if (cosine_ && steps_ > generated)
      throw ConfigError(
          "decode.steps = {} steps of a cosine schedule, but there are {} positions to fill",
          steps_, generated);
  }
  void arrange(const Canvas& canvas, Chance& chance, std::uint64_t sequence) override {
    std::vector<std::int32_t> left = canvas.masked_positions();
    for (std::int32_t rank = 0; !left.empty(); ++rank) {
      const Token at = left.size() == 1
                           ? 0
                           : chance.draw(Distribution::uniform(static_cast<int>(left.size())),
                                         {sequence, rank, Purpose::arrange, 0, 0});
      order_.push_back(left[at]);
      left.erase(left.begin() + at);
    }
  }

  bool done(const Canvas& canvas) const override {
    return canvas.prompt_size() + canvas.committed() == canvas.length();
  }
  Window next(const Canvas& canvas) const override {
    Window window;
    for (const std::int32_t position : order_)
      if (canvas.masked(position)) window.positions.push_back(position);
    if (cosine_ && made_ + 1 < steps_) {
      const int left = static_cast<int>(window.positions.size());
      const double share = std::cos(std::numbers::pi / 2 * static_cast<double>(made_ + 1) /
                                    static_cast<double>(steps_));
      const int behind = std::max(
          1, std::min(left - 1,
                      static_cast<int>(std::floor(static_cast<double>(order_.size()) * share))));
      window.positions.resize(static_cast<std::size_t>(std::max(1, left - behind)));
      window.boundary = Stop::window_end;
    }
    window.span = static_cast<int>(window.positions.size());
    return window;
  }

  void observe(const Canvas&, const Route&, const Verdict&) override { made_ += cosine_; }
  std::string state() const override {
    std::string text = std::to_string(made_) + ":";
    for (const std::int32_t position : order_) text += " " + std::to_string(position);
    return text;
  }

 private:
  bool cosine_;
  std::int64_t steps_ = 0, made_ = 0;  // The steps of the schedule, and how many of them were made.
  std::vector<std::int32_t> order_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(frontier, random) {
  registries.frontiers.add<draftlab::RandomOrder>(
      "random",
      "masked positions in a random order of each sequence, with MAR's cosine schedule as an "
      "option");
}
