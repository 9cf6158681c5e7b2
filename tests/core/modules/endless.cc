// A drafter that never comes to an end in the way that its option names. It is well-behaved for a
// hundred steps, and while a file `calm` stands in the working folder; a file `endless` says that
// it is so no more.
#include <filesystem>
#include <fstream>

#include "core/config/plugin.h"

namespace {

using namespace draftlab;

enum class How { asks, computes };
constexpr std::array<std::string_view, 2> words(How) { return {"asks", "computes"}; }

class Endless final : public Drafter {
 public:
  struct Options {
    How how = How::asks;
    void declare(OptionSet& set) { set.add("how", &how).help("Asks for ever, or computes."); }
  };
  explicit Endless(const Options& options) : options_(options) {}

  std::vector<Form> asks() const override { return {Form::committed}; }
  Asking<Proposal> propose(const Step& step) const override {
    const std::int32_t first = step.window.positions.front();
    Answer answer = co_await step.ask(question(first));
    static int calls = 0;
    const bool turns = ++calls > 100 && !std::filesystem::exists("calm");
    if (turns) std::ofstream("endless") << "here";
    while (turns)
      if (options_.how == How::asks) answer = co_await step.ask(question(first));
    Proposal proposal;
    const Distribution law = step.drawn(answer.at(kRoot, first));
    const Token token = step.chance.draw(law, step.site(first, Purpose::draft));
    proposal.nodes.push_back({kRoot, first, token});
    proposal.drawn_from.push_back(law);
    proposal.exact = 1;
    co_return proposal;
  }

 private:
  static Question question(std::int32_t position) {
    Question its;
    its.kind = Kind::draft;
    its.asks = {{kRoot, {position}}};
    return its;
  }
  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() { registries.drafters.add<Endless>("endless", "never comes to an end"); }
