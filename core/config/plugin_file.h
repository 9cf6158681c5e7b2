// Files of plugins by their content: what a config or a command line names, and what was loaded.
//
//   [plugins]
//   mine = parts.py
//   theirs = ../lib/libtheirs.so sha256:0f3c...    refused where the file's digest is another
//
// Paths are relative to the file that holds the line. On the command line, `--plugin FILE` does the
// same, and gives the file the name of its stem.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/config/config.h"

namespace draftlab {

// A plugin that a config or a command line asks for.
struct NamedPlugin {
  std::string name, path;
  // The digest that the file must have; "" for any.
  std::string digest = {};
  // What names it, for messages: "--plugin a.py" or "a.ini:3: plugins.mine = a.py".
  std::string said = {};
};

// Returns what [plugins] of a config names, in its order.
std::vector<NamedPlugin> named_plugins(const Config& config, Diagnostics& diagnostics);
// Returns what `--plugin path` names.
NamedPlugin plugin_flag(const std::string& path);

// Says whether a plugin is the address of a process, unix:PATH or tcp:HOST:PORT, and no file.
bool is_address(const std::string& path);

// A file of plugins that was loaded, or the address of a process that has some.
struct PluginFile {
  // The name in [plugins]; the absolute path, or the address.
  std::string name, path;
  // The SHA-256 of its bytes, in 64 hexadecimal digits; of an address, that of what the process
  // says of itself.
  std::string digest;
  // The text of a Python file; "" for anything else.
  std::string source = {};

  // The value that [plugins] has in a resolved config: "PATH sha256:DIGEST".
  std::string pinned() const { return path + " sha256:" + digest; }
};

// Says whether two paths lead to one place.
bool same_path(const std::string& a, const std::string& b);

// Reads the file. Throws ConfigError where there is none, or where its digest is not the one that
// was asked for.
PluginFile read_plugin(const NamedPlugin& plugin);
// Throws ConfigError unless `digest` is the one that was asked for.
void check_digest(const NamedPlugin& plugin, const std::string& digest);

// Files by their names.
using PluginFiles = std::map<std::string, std::shared_ptr<const PluginFile>>;

inline constexpr const char* kPluginsHead = "\n[plugins]\n";
// Returns the text "\n[plugins]\nNAME = PATH sha256:DIGEST\n...", and "" for no files.
std::string plugins_section(const PluginFiles& files);

}  // namespace draftlab
