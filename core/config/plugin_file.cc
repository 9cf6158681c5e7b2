#include "core/config/plugin_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/missing_file.h"
#include "core/base/sha256.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDigest = "sha256:";
constexpr std::size_t kDigits = 64;

bool is_digest(const std::string& text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The stem of a path as a key: "My Parts.py" is "my-parts".
std::string key_of(const std::string& path) {
  std::string key;
  for (const char c : is_address(path) ? path : fs::path(path).stem().string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    const bool upper = c >= 'A' && c <= 'Z';
    key += plain ? c : upper ? static_cast<char>(c - 'A' + 'a') : '-';
  }
  return key.empty() ? "plugin" : key;
}

}  // namespace

bool is_address(const std::string& path) {
  return path.starts_with("unix:") || path.starts_with("tcp:");
}

bool same_path(const std::string& a, const std::string& b) {
  std::error_code error;
  if (is_address(a) || is_address(b)) return a == b;
  return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

std::vector<NamedPlugin> named_plugins(const Config& config, Diagnostics& diagnostics) {
  std::vector<NamedPlugin> found;
  for (const Config::Entry* const entry : config.section("plugins")) {
    NamedPlugin plugin{entry->key.substr(entry->key.find('.') + 1), entry->value};
    plugin.said = entry->where + ": " + entry->key + " = " + entry->value;
    if (const std::size_t at = plugin.path.rfind(' ');
        at != std::string::npos && plugin.path.compare(at + 1, kDigest.size(), kDigest) == 0) {
      plugin.digest = plugin.path.substr(at + 1 + kDigest.size());
      plugin.path.erase(plugin.path.find_last_not_of(' ', at) + 1);
      if (!is_digest(plugin.digest))
        diagnostics.add("{}: sha256: is followed by 64 hexadecimal digits in lower case",
                        plugin.said);
    }
    if (plugin.path.empty())
      diagnostics.add("{}: names no file; write plugins.{} = FILE", plugin.said, plugin.name);
    else
      found.push_back(std::move(plugin));
  }
  return found;
}

NamedPlugin plugin_flag(const std::string& path) {
  return {key_of(path), path, "", "--plugin " + path};
}

void check_digest(const NamedPlugin& plugin, const std::string& digest) {
  if (!plugin.digest.empty() && plugin.digest != digest)
    throw ConfigError("{}: the file has changed, its digest is {}", plugin.said, digest);
}

PluginFile read_plugin(const NamedPlugin& plugin) {
  std::error_code error;
  if (!fs::exists(plugin.path, error))
    throw ConfigError("{} does not exist{}", plugin.said, file_hint(plugin.path));
  if (!fs::is_regular_file(plugin.path, error)) throw ConfigError("{} is no file", plugin.said);
  std::ifstream in(plugin.path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (!in) throw ConfigError("{} cannot be read", plugin.said);
  PluginFile file{plugin.name, fs::absolute(plugin.path, error).lexically_normal().string(),
                  sha256(bytes)};
  check_digest(plugin, file.digest);
  if (plugin.path.ends_with(".py")) file.source = std::move(bytes);
  return file;
}

std::string plugins_section(const PluginFiles& files) {
  if (files.empty()) return {};
  std::string text = kPluginsHead;
  for (const auto& [name, file] : files) text += name + " = " + file->pinned() + "\n";
  return text;
}

}  // namespace draftlab
