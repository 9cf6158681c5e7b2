#include "experiments/sweep/sweep_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/config/arms.h"
#include "core/prob/chance.h"
#include "core/trace/checksum.h"
#include "core/trace/provenance.h"
#include "experiments/arm/loaded_arm.h"
#include "plugins/models/nn/checkpoint/gguf.h"
#include "plugins/models/nn/checkpoint/llama2c.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class Interface>
std::string described(const Factory<Interface>& bound) {
  std::string text = bound.name;
  for (const auto& [option, value] : bound.values) text += " " + option + "=" + value;
  return text;
}

// The folder of weights that a model names; "" for models that are made, not loaded.
std::string checkpoint_of(const Factory<Model>& model) {
  for (const auto& [option, value] : model.values)
    if (option == "checkpoint") return value;
  return {};
}

// Digest of all weights in a folder; that of the file where there is one.
std::string digest_of(const std::string& checkpoint) {
  if (is_llama2c(checkpoint)) return Llama2cFile(checkpoint).digest();
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(checkpoint, error)) {
    if (entry.path().extension() == ".safetensors" || is_gguf(entry.path().string()))
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::string digest;
  for (const std::string& file : files)
    digest += is_gguf(file) ? GgufFile(file).digest() : SafetensorsFile(file).digest();
  return files.size() <= 1 ? digest : id_of(digest);
}

// The name of the copy of a plugin in the folder.
std::string copy_of(const PluginFile& file) {
  return file.digest.substr(0, 12) + "-" + fs::path(file.path).filename().string();
}

// The axes of a cell that say what it reads, and how many prompts.
std::string what_reads(const Cell& cell) {
  std::string axes;
  for (const auto& [key, value] : cell.axes) {
    const std::string kind = key.substr(0, key.find('.'));
    if ((kind == "arm" || kind == "model" || kind == "task" || kind == "run") && key != "run.seed")
      axes.append(key).append("=").append(value).append("\n");
  }
  return axes;
}

}  // namespace

// Sections in the order of the alphabet; axes that the command line fixed are gone, and arms set
// what it set, as expand() would have it.
std::string to_text(const Config& config) {
  std::map<std::string, std::string> sections;
  for (const Config::Entry* const entry : config.entries()) {
    const std::string& key = entry->key;
    const bool swept = key.starts_with("sweep.");
    if (swept && is_fixed(config, key.substr(6))) continue;
    const std::size_t arm = key.starts_with("arm.") ? key.find('.', 4) : std::string::npos;
    const std::size_t dot = swept ? 5 : arm != std::string::npos ? arm : key.rfind('.');
    const std::string section = dot == std::string::npos ? "" : key.substr(0, dot),
                      name = section.empty() ? key : key.substr(dot + 1);
    const bool beaten = arm != std::string::npos && is_fixed(config, name);
    sections[section] += name + " = " + (beaten ? config.find(name)->value : entry->value) + "\n";
  }
  std::string text;
  for (std::size_t begin = 0; begin < config.title().size();) {
    const std::size_t end = std::min(config.title().find('\n', begin), config.title().size());
    text += "# " + config.title().substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  for (const auto& [section, lines] : sections)
    text += (section.empty() ? "" : "\n[" + section + "]\n") + lines;
  return text;
}

bool SweepFolder::is_one(const std::string& path) {
  return fs::is_regular_file(path + "/sweep.json");
}

bool SweepFolder::may_begin(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error) || is_one(path)) return true;
  const fs::directory_iterator entries(path, error);  // It is an error where the path is a file.
  return !error && std::all_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().ends_with(kPartial);
  });
}

std::vector<NamedPlugin> SweepFolder::plugins(const std::string& path) {
  Diagnostics none;
  return named_plugins(Config::read(path + "/config.ini", {}, none), none);
}

// Makes [plugins] of a config name the copies that the folder has.
void SweepFolder::name_copies(Config& config, const Registries& registries) {
  for (const Config::Entry* const entry : config.section("plugins")) config.erase(entry->key);
  for (const auto& file : registries.files)
    config.set({"plugins." + file->name, "plugins/" + copy_of(*file) + " sha256:" + file->digest,
                "plugins"});
}

SweepFolder SweepFolder::freeze(const std::string& path, Config config,
                                const Registries& registries) {
  SweepFolder folder;
  name_copies(config, registries);
  const std::string text = to_text(config);
  Diagnostics diagnostics;
  folder.config_ = Config::parse(text, "config.ini", diagnostics);
  diagnostics.raise();
  folder.load(registries);  // Whatever is wrong shows before anything is written.
  if (std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20; }))
    throw UsageError("a sweep's folder may have no line ends or control characters in its name");
  make_folder(path);
  // From now on the folder is a sweep's, so a process that is killed may begin again.
  if (!is_one(path)) write_whole(path + "/sweep.json", "{}\n");
  for (const char* part : {"/cells", "/attempts", "/logs"}) make_folder(path + part);
  folder.path_ = fs::canonical(path).string();
  folder.home_ = fs::current_path().string();
  for (const auto& file : registries.files) {
    const std::string copy = folder.path_ + "/plugins/" + copy_of(*file);
    make_folder(folder.path_ + "/plugins");
    const std::string bytes = contents(file->path);
    if (sha256(bytes) != file->digest)
      throw DataError("'{}' was changed while the sweep began", file->path);
    if (!fs::exists(copy)) write_whole(copy, bytes);
  }
  const Json before = Json::parse(contents(folder.path_ + "/sweep.json"), nullptr, false);
  if (before.is_object())
    folder.estimate_ = before.value("estimate", 0.0),
    folder.lease_ = before.value("lease", folder.lease_),
    folder.sample_seconds_ = before.value("sample_seconds", 0.0);
  if (const char* const lease = std::getenv("DRAFTLAB_LEASE_SECONDS"))
    folder.lease_ = std::max(0.5, std::atof(lease));
  write_whole(folder.path_ + "/config.ini", text);
  folder.save_list();
  folder.save();
  return folder;
}

void SweepFolder::open_files(const std::string& path) {
  if (!is_one(path))
    throw UsageError(
        "'{}' is no folder of a sweep: it has no sweep.json; make one with draftlab sweep CONFIG "
        "--out {}",
        path, path);
  path_ = fs::canonical(path).string();
  try {
    const Json json = Json::parse(contents(path_ + "/sweep.json"));
    if (json.empty())
      throw DataError(
          "'{}' was interrupted before its sweep began; begin it again with draftlab sweep CONFIG "
          "--out {}",
          path, path);
    home_ = json.at("home"), lease_ = json.at("lease"), estimate_ = json.value("estimate", 0.0);
    sample_seconds_ = json.value("sample_seconds", 0.0);
    for (const auto& [key, value] : json.at("inputs").items()) {
      inputs_[key] = {value.at("checkpoint"), value.at("checkpoint_digest"),
                      value.at("data_digest"), value.value("tokenizer_digest", ""),
                      value.at("prompts")};
    }
    for (const Json& file : json.at("files")) {
      remember_digest({file.at("path"), file.at("size"), file.at("changed")}, file.at("digest"));
    }
  } catch (const Json::exception& error) {
    throw DataError("'{}/sweep.json' is damaged: {}", path, error.what());
  }
  Diagnostics diagnostics;
  config_ = Config::read(path_ + "/config.ini", {}, diagnostics);
  diagnostics.raise();
}

SweepFolder SweepFolder::open(const std::string& path, const Registries& registries) {
  SweepFolder folder;
  folder.open_files(path);
  std::error_code gone;
  fs::current_path(folder.home_, gone);
  if (gone)
    throw DataError("the sweep in '{}' was made in '{}', which is not there on this machine", path,
                    folder.home_);
  folder.load(registries);
  if (!folder.has_list()) folder.save_list();
  return folder;
}

// Expands the config, and finds out what its cells read where that is not known yet. Cells that
// differ in other things than model, task and run read alike, so of those one is composed: to
// compose each of 100,000 took nine tenths of what a worker takes to begin.
void SweepFolder::load(const Registries& registries) {
  Diagnostics diagnostics;
  std::vector<Cell> cells = expand(config_, registries, diagnostics);
  diagnostics.raise();
  std::map<std::string, SweepCell> known;
  for (Cell& cell : cells) {
    const auto [found, fresh] = known.emplace(what_reads(cell), SweepCell{});
    if (fresh) {
      const Composition arm = composition_of(cell, registries, diagnostics);
      diagnostics.raise();
      found->second = read_by(arm);
    }
    SweepCell made = found->second;
    const std::string read =
        made.inputs.checkpoint_digest + made.inputs.data_digest + made.inputs.tokenizer_digest;
    made.id = cell.id + (read.empty() ? "" : "-" + id_of(read).substr(0, 8));
    made.cell = std::move(cell);
    cells_.push_back(std::move(made));
  }
}

// The cell of an arm but for its id and its config.
SweepCell SweepFolder::read_by(const Composition& arm) {
  SweepCell made;
  std::string inputs = described(arm.task);
  for (const auto& [role, model] : arm.models) made.model += role + ":" + described(model) + "\n";
  for (const auto& [role, model] : arm.models) inputs += " " + role + ":" + checkpoint_of(model);
  made.model.append(word(arm.run.machine.device)).append(" ").append(word(arm.run.machine.dtype));
  if (!inputs_.count(inputs)) {
    Inputs& known = inputs_[inputs];
    known.checkpoint = checkpoint_of(arm.models.at(""));
    for (const auto& [role, model] : arm.models) {
      const std::string checkpoint = checkpoint_of(model);
      if (checkpoint.empty()) continue;
      known.checkpoint_digest +=
          (known.checkpoint_digest.empty() ? "" : " ") + digest_of(checkpoint);
    }
    std::shared_ptr<Tokenizer> tokenizer;
    if (!known.checkpoint.empty() && has_tokenizer(known.checkpoint))
      tokenizer = open_tokenizer(known.checkpoint),
      known.tokenizer_digest = tokenizer_digest(known.checkpoint);
    const std::unique_ptr<Task> task = arm.task.make();
    load_task(*task, tokenizer.get(), known.checkpoint);
    known.data_digest = task->digest();
    known.prompts = task->size();
  }
  made.inputs = inputs_.at(inputs);
  made.first = arm.run.first;
  made.prompts = std::max<std::int64_t>(0, made.inputs.prompts - made.first);
  if (arm.run.limit > 0) made.prompts = std::min(made.prompts, arm.run.limit);
  made.samples = arm.run.samples;
  if (made.prompts == 0)
    throw ConfigError("the task has no prompts from run.first = {} on", made.first);
  return made;
}

void SweepFolder::save() const {
  Json json = {{"home", home_},   {"version", version()},  {"frozen", utc_now()},
               {"lease", lease_}, {"estimate", estimate_}, {"sample_seconds", sample_seconds_}};
  json["inputs"] = Json::object();
  for (const auto& [key, known] : inputs_) {
    json["inputs"][key] = {{"checkpoint", known.checkpoint},
                           {"checkpoint_digest", known.checkpoint_digest},
                           {"data_digest", known.data_digest},
                           {"tokenizer_digest", known.tokenizer_digest},
                           {"prompts", known.prompts}};
  }
  json["files"] = Json::array();
  for (const auto& [file, digest] : remembered_digests()) {
    json["files"].push_back(
        {{"path", file.path}, {"size", file.size}, {"changed", file.changed}, {"digest", digest}});
  }
  write_whole(path_ + "/sweep.json", json.dump(2) + "\n");
}

void SweepFolder::remember_estimate(double core_hours) {
  estimate_ = core_hours;
  save();
}

void SweepFolder::remember_sample_seconds(double seconds) {
  sample_seconds_ = seconds;
  save();
}

bool SweepFolder::cancelled() const { return fs::exists(path_ + "/cancelled"); }

void SweepFolder::cancel(bool cancelled) const {
  if (cancelled)
    write_whole(path_ + "/cancelled", utc_now() + "\n");
  else
    ::unlink((path_ + "/cancelled").c_str());
}

void SweepFolder::remove_cells(bool all) const {
  std::set<std::string> ours = {"workers"};  // The log of `workers` belongs to no single cell.
  for (const SweepCell& cell : cells_)
    if (!all) ours.insert(cell.id);
  std::error_code error;
  for (const char* const part : {"/cells", "/attempts", "/logs"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path_ + part, error)) {
      const std::string name = entry.path().filename().string();
      if (!ours.count(name.substr(0, name.find('.')))) fs::remove_all(entry.path(), error);
    }
  }
  fs::remove(result(), error);
}

std::size_t SweepFolder::set_aside_damaged() const {
  std::size_t count = 0;
  for (const SweepCell& cell : cells_) {
    if (is_intact(trace(cell))) continue;
    fs::rename(trace(cell), trace(cell) + std::string(kDamaged));
    ++count;
  }
  return count;
}

Standing SweepFolder::standing(const SweepCell& cell, const Attempts& attempts,
                               const Claims& claims) const {
  if (failures(attempts) >= kQuarantine) return Standing::quarantined;
  if (attempts.empty()) return Standing::missing;
  const Attempt& last = attempts.back();
  switch (last.state) {
    case AttemptState::running:
      return claims.abandoned(cell.id, last) ? Standing::missing : Standing::running;
    case AttemptState::failed: return Standing::failed;
    case AttemptState::interrupted:
    case AttemptState::forgiven: return Standing::missing;
    case AttemptState::done: break;
  }
  const bool covers = last.first <= cell.first &&
                      last.first + last.prompts >= cell.first + cell.prompts &&
                      last.samples >= cell.samples;
  return covers && fs::exists(trace(cell)) ? Standing::done : Standing::missing;
}

std::string_view name(Standing standing) {
  constexpr std::string_view names[] = {"missing", "running", "failed", "quarantined", "done"};
  return names[static_cast<int>(standing)];
}

}  // namespace draftlab
