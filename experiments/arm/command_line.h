// The words that the user typed, taken apart.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

struct CommandLine {
  std::string command;
  // The positional arguments after the command.
  std::vector<std::string> paths;
  // Dotted config keys and their values, which override the config file.
  std::vector<std::pair<std::string, std::string>> overrides;
  // The libraries that --plugin named.
  std::vector<std::string> plugins;
  // The words after --slurm, which are options for sbatch.
  std::vector<std::string> passed;
  // The command's own flags (out, resume, sample, ...); switches hold "true".
  std::map<std::string, std::string> flags;

  bool has(const std::string& flag) const { return flags.count(flag) > 0; }
  std::string flag(const std::string& name, const std::string& otherwise = {}) const {
    const auto found = flags.find(name);
    return found == flags.end() ? otherwise : found->second;
  }
};

}  // namespace draftlab
