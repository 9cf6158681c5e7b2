// Routers that end badly: for sweeps that must go on without their cells.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/config/plugin.h"

namespace draftlab {
namespace {

bool calm() { return std::getenv("DRAFTLAB_TEST_CALM") != nullptr; }

class Crash final : public Router {
 public:
  Route decide(const StepView&) const override {
    if (calm()) return {};
    std::cerr << "the router crashes now" << std::endl;
    std::abort();
  }
};

class Refuse final : public Router {
 public:
  Route decide(const StepView&) const override {
    if (!calm()) throw std::runtime_error("the router refuses");
    return {};
  }
};

class Hang final : public Router {
 public:
  Route decide(const StepView&) const override {
    while (!calm()) std::this_thread::sleep_for(std::chrono::seconds(1));
    return {};
  }
};

class ThrowInt final : public Router {
 public:
  Route decide(const StepView&) const override { throw 7; }
};

class Overrun final : public Router {
 public:
  Route decide(const StepView&) const override {
    volatile int* const nowhere = nullptr;
    *nowhere = 1;
    return {};
  }
};

// Ends where a process may take so much memory and no more (ulimit -v).
class Exhaust final : public Router {
 public:
  Route decide(const StepView&) const override {
    std::vector<std::unique_ptr<char[]>> all;
    constexpr std::size_t kBlock = std::size_t{1} << 28;
    while (!calm() && all.size() < 1000) all.emplace_back(new char[kBlock]);
    return {};
  }
};

// Does one of these, or nothing, as a number says: for sweeps of many cells of which some fail.
class OneInMany final : public Router {
 public:
  struct Options {
    std::int64_t number = 0;
    void declare(OptionSet& set) {
      set.add("number", &number).help("7 crashes, 8 hangs, 9 takes all memory.");
    }
  };
  explicit OneInMany(Options options) : options_(options) {}
  Route decide(const StepView& step) const override {
    switch (options_.number) {
      case 7: return Crash().decide(step);
      case 8: return Hang().decide(step);
      case 9: return Exhaust().decide(step);
      default: return {};
    }
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_SHARED_PLUGIN() {
  registries.routers.add<draftlab::Crash>("crash", "aborts");
  registries.routers.add<draftlab::Refuse>("refuse", "throws");
  registries.routers.add<draftlab::ThrowInt>("throw-int", "throws a number");
  registries.routers.add<draftlab::Overrun>("overrun", "writes where nothing is");
  registries.routers.add<draftlab::Hang>("hang", "waits for ever");
  registries.routers.add<draftlab::Exhaust>("exhaust", "takes all memory");
  registries.routers.add<draftlab::OneInMany>("one-in-many", "ends as its number says");
}
