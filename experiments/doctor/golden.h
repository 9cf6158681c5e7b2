// `draftlab golden [FOLDER]`: decodes the first prompt of every config of a folder, and compares
// the whole trajectory with the text that is stored beside it.
#pragma once

#include <string>
#include <vector>

#include "core/config/plugin.h"

namespace draftlab {

// The folder of the golden decodes, "tests/golden": of this folder, or else of the source tree that
// the program was built from. "" where there is neither.
std::string golden_folder();

struct GoldenDecode {
  std::string config;      // The path of the config; its text ends in .txt instead of .ini.
  std::string decoded;     // What it decodes now.
  std::string difference;  // How it differs from what is stored; "" when it does not.
};

// Decodes every config (*.ini) of the folder, in f32 on one thread, in the order of their names.
std::vector<GoldenDecode> golden_decodes(const std::string& folder, const Registries& registries);

// A digest of what was decoded but for its floating-point numbers: equal on all machines.
std::string signature(const std::vector<GoldenDecode>& decodes);

}  // namespace draftlab
