// Routers that end badly: for sweeps that must go on without their cells.
#include <cstdlib>
#include <iostream>
#include <stdexcept>

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

}  // namespace
}  // namespace draftlab

DRAFTLAB_SHARED_PLUGIN() {
  registries.routers.add<draftlab::Crash>("crash", "aborts");
  registries.routers.add<draftlab::Refuse>("refuse", "throws");
}
