// A library with a router of which two options have one name.
#include "core/config/plugin.h"

namespace {

class Twice final : public draftlab::Router {
 public:
  struct Options {
    double least = 0, most = 1;
    void declare(draftlab::OptionSet& set) {
      set.add("least", &least).in(0, 1).help("The least.");
      set.add("least", &most).in(0, 1).help("The most.");
    }
  };
  explicit Twice(const Options&) {}
  draftlab::Route decide(const draftlab::StepView&) const override { return {}; }
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() { registries.routers.add<Twice>("twice", "has an option twice"); }
