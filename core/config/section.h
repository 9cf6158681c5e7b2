// Sections of a config that belong to a command rather than to the loop, such as [certify] or
// [slurm]. The room that owns such a section registers it; the config knows none of them by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "core/config/options.h"

namespace draftlab {

// Whether a section stands in the resolved config that a trace records, so that the config can be
// run again as it stands. No such section is part of an arm's identity.
enum class Recorded { no, yes };

struct Section {
  std::string name;
  Recorded recorded = Recorded::yes;
  std::type_index type = typeid(void);
  // Makes the options with their defaults, and declares them in the set.
  std::function<std::shared_ptr<void>(OptionSet& set)> make;
};

class Sections {
 public:
  // Adds a section. `Options` has defaults and a method declare(OptionSet&).
  template <class Options>
  void add(std::string name, Recorded recorded = Recorded::yes) {
    all_.push_back({std::move(name), recorded, typeid(Options), [](OptionSet& set) {
                      auto options = std::make_shared<Options>();
                      options->declare(set);
                      return std::static_pointer_cast<void>(options);
                    }});
  }
  const std::vector<Section>& all() const { return all_; }

 private:
  std::vector<Section> all_;
};

}  // namespace draftlab
