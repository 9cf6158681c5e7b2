// The index of the configs that come with draftlab. What it says of a config stands in the comment
// that opens the file: the question is its first sentence, after the paper's item that it is about
// ("ASSD, Table 1: does ..."); "This takes about 5 min." is its time; and a command that names the
// file says what it is for, where its folder does not.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace draftlab {

struct ConfigEntry {
  std::filesystem::path path;  // Below the folder of configs, such as assd/table1.ini.
  std::string item;            // The paper's table, figure or theorem; empty: none is named.
  std::string question;
  std::string takes;    // "about 5 min on 2 cores"; empty: not known.
  std::string command;  // "run", "certify", "bench batch"; empty: other configs include it.
};

// Returns what the comment that opens a config says of it.
ConfigEntry described(const std::filesystem::path& path, const std::string& comment);

// Returns all configs of a folder, in the order of their paths.
std::vector<ConfigEntry> config_index(const std::filesystem::path& folder);

// Prints the index for a terminal: of the configs whose path or question holds `word`.
void print_configs(const std::vector<ConfigEntry>& index, const std::filesystem::path& folder,
                   const std::string& word);
// Prints the index as the tables of configs/README.md.
void print_config_tables(const std::vector<ConfigEntry>& index);

}  // namespace draftlab
