// The task `prefix` gives the beginning of a passage and asks for the rest (ASSD, Table 9).
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/tasks/stories/passages.h"

namespace draftlab {
namespace {

class Prefix final : public PassageTask {
 public:
  struct Options : PassageOptions {
    std::int64_t prompt = 16;
    void declare(OptionSet& set) {
      PassageOptions::declare(set);
      set.add("prompt", &prompt).in(0, 1 << 20).help("Given tokens besides <s>; 0: <s> alone.");
    }
  };
  explicit Prefix(const Options& options) : PassageTask("prefix"), options_(options) {
    const std::int64_t given = options_.prompt + (options_.begin ? 1 : 0);
    if (given == 0)
      throw ConfigError(
          "task.prefix.prompt = 0 needs task.prefix.begin = true: something must be given");
    if (options_.packing != Packing::documents && given >= options_.length)
      throw ConfigError(
          "task.prefix.prompt = {} leaves nothing to decode of task.prefix.length = {}",
          options_.prompt, options_.length);
    options_.least = std::max(options_.least, options_.prompt + 1);
    options_.length = std::max(options_.length, given + 1);
  }

  void load(const Tokenizer* tokenizer) override {
    read(options_, tokenizer);
    if (options_.prompt == 0 && first() == 0)
      throw ConfigError(
          "task.prefix.prompt = 0 needs a tokenizer with <s>: something must be given");
  }

 private:
  std::vector<std::int32_t> visible(const Passage&) const override {
    std::vector<std::int32_t> positions(static_cast<std::size_t>(options_.prompt));
    std::iota(positions.begin(), positions.end(), first());
    return positions;
  }
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, prefix) {
  registries.tasks.add<draftlab::Prefix>("prefix",
                                         "the beginning of a text is given, the rest is completed");
}
