// The task `positions` has one prompt, written down in the config: which positions of a canvas hold
// which tokens. It serves toys and certificates.
#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/task.h"

namespace draftlab {
namespace {

class Positions final : public Task {
 public:
  struct Options {
    std::int64_t length = 5;
    std::string prompt = "2:1";
    void declare(OptionSet& set) {
      set.add("length", &length).in(1, 4096).help("Positions of the canvas.");
      set.add("prompt", &prompt)
          .help("Given tokens as position:token pairs, separated by commas; empty: none.");
    }
  };
  explicit Positions(const Options& options) : options_(options) {
    std::vector<char> taken(static_cast<std::size_t>(options.length), 0);
    const std::string& text = options.prompt;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const auto [position, token] = pair(text.substr(begin, end - begin));
      if (taken[position]) refuse("gives position " + std::to_string(position) + " twice");
      taken[position] = 1;
      prompt_.given.emplace_back(position, token);
      begin = end + 1;
    }
    std::sort(prompt_.given.begin(), prompt_.given.end());
    prompt_.id = "positions/" + text;
    prompt_.length = static_cast<int>(options.length);
  }

  void load(const Tokenizer*) override {}
  int size() const override { return 1; }
  Prompt prompt(int) const override { return prompt_; }
  std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }

 private:
  std::pair<std::int32_t, Token> pair(std::string text) const {
    std::erase(text, ' ');
    std::pair<std::int32_t, Token> pair;
    const char* const end = text.data() + text.size();
    const auto position = std::from_chars(text.data(), end, pair.first);
    if (position.ec == std::errc{} && position.ptr != end && *position.ptr == ':') {
      const auto token = std::from_chars(position.ptr + 1, end, pair.second);
      if (token.ec == std::errc{} && token.ptr == end && pair.second >= 0) {
        if (pair.first < 0 || pair.first >= options_.length)
          refuse("gives position " + std::to_string(pair.first) + ", which must be in [0, " +
                 std::to_string(options_.length - 1) + "]");
        return pair;
      }
    }
    refuse("holds '" + text + "', which must be position:token");
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw ConfigError("task.positions.prompt = {} {}", options_.prompt, why);
  }

  Options options_;
  Prompt prompt_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, positions) {
  registries.tasks.add<draftlab::Positions>("positions", "one prompt, written down in the config");
}
