// What the user typed, taken apart.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

struct CommandLine {
  std::string command;
  std::vector<std::string> paths;  // positional arguments after the command
  std::vector<std::pair<std::string, std::string>>
      overrides;                     // dotted config keys; beat the config file
  std::vector<std::string> plugins;  // libraries that --plugin named
  std::vector<std::string> passed;   // words after --slurm: options for sbatch
  std::map<std::string, std::string>
      flags;  // the command's own: out, resume, sample, ...; "true" for switches

  bool has(const std::string& flag) const { return flags.count(flag) > 0; }
  std::string flag(const std::string& name, const std::string& otherwise = {}) const {
    const auto found = flags.find(name);
    return found == flags.end() ? otherwise : found->second;
  }
};

}  // namespace draftlab
