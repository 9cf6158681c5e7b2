// Config section `run`: what is decoded, how often, and where.
#pragma once

#include <cstdint>

#include "core/model/machine.h"

namespace draftlab {

class OptionSet;

struct RunOptions {
  std::int64_t seed = 1;
  // How many prompts are decoded; 0 stands for all that the task has.
  std::int64_t limit = 0;
  // The index of the first prompt.
  std::int64_t first = 0;
  // How often each prompt is decoded.
  std::int64_t samples = 1;
  // How many sequences are decoded side by side.
  std::int64_t batch = 1;
  // How many processes decode independent samples; 0 takes as many as there are processors, where
  // a copy of this process can decode at all.
  std::int64_t workers = 0;
  Machine machine;
  void declare(OptionSet& set);
};

}  // namespace draftlab
