#include "experiments/doctor/golden.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "analysis/inspect/trajectory_text.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/config/composition.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/doctor/doctor.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

std::string text_path(const std::string& config) {
  return fs::path(config).replace_extension(".txt").string();
}

std::string decode(const std::string& path, const Registries& registries) {
  Diagnostics diagnostics;
  const Config config = Config::read(
      path, {{"run.threads", "1"}, {"run.dtype", "f32"}, {"run.device", "cpu"}, {"run.batch", "1"}},
      diagnostics);
  diagnostics.raise();
  const std::vector<LoadedArm> arms = load_arms(config, registries);
  if (arms.size() != 1)
    throw ConfigError("{}: a golden decode has one arm, and this has {}", path, arms.size());
  const LoadedArm& arm = arms[0];
  const Job job{static_cast<int>(arm.composition.run.first), 0};
  if (arm.prompts() == 0) throw ConfigError("{}: the task has no prompts", path);
  const auto spell = [&](Token token) {
    const std::string piece = piece_of(arm.tokenizer.get(), token);
    return piece.empty() ? std::to_string(token) : piece;
  };
  std::string text =
      "# " + first_sentence(config.title()) + "\n# Written by: draftlab golden --write\n\n";
  arm.decode({&job, 1}, [&](const SampleRow& sample) {
    text += trajectory_text(sample, arm.task->prompt(job.prompt), spell);
    return true;
  });
  return text;
}

}  // namespace

std::string golden_folder() {
  std::error_code error;
  fs::path tree = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (fs::is_directory("tests/golden", error)) return "tests/golden";
  // A build folder lies within its tree.
  for (; tree.has_relative_path(); tree = tree.parent_path())
    if (fs::is_directory(tree / "tests/golden", error)) return (tree / "tests/golden").string();
  return {};
}

std::vector<GoldenDecode> golden_decodes(const std::string& folder, const Registries& registries) {
  std::error_code error;
  std::vector<GoldenDecode> decodes;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".ini") decodes.push_back({entry.path().string(), "", ""});
  if (decodes.empty()) throw DataError("there is no config (*.ini) in the folder '{}'", folder);
  std::sort(decodes.begin(), decodes.end(),
            [](const GoldenDecode& a, const GoldenDecode& b) { return a.config < b.config; });
  for (GoldenDecode& golden : decodes) {
    golden.decoded = decode(golden.config, registries);
    std::ifstream in(text_path(golden.config), std::ios::binary);
    const std::string stored(std::istreambuf_iterator<char>(in), {});
    golden.difference = difference(stored, golden.decoded);
  }
  return decodes;
}

std::string signature(const std::vector<GoldenDecode>& decodes) {
  std::string all;
  for (const GoldenDecode& golden : decodes)
    all += fs::path(golden.config).filename().string() + "\n" + without_numbers(golden.decoded);
  return id_of(all);
}

namespace {

struct GoldenFlags {
  bool write = false;
  void declare(OptionSet& set) { set.add("write", &write).help("Stores what is decoded now."); }
};

int golden(const GoldenFlags& flags, const CommandLine& line, const Registries& registries) {
  const std::string folder = line.paths.empty() ? golden_folder() : line.paths[0];
  if (folder.empty())
    throw UsageError(
        "there is no tests/golden in this folder or in the tree of the program; name the folder of "
        "golden decodes");
  const std::vector<GoldenDecode> decodes = golden_decodes(folder, registries);
  bool alike = true;
  for (const GoldenDecode& one : decodes) {
    const std::string path = text_path(one.config);
    if (flags.write) {
      if (!one.difference.empty()) write_whole(path, one.decoded);
      std::cout << path << (one.difference.empty() ? " is as it was\n" : " is written\n");
      continue;
    }
    alike &= one.difference.empty();
    std::cout << path << (one.difference.empty() ? " as stored" : " DIFFERS in " + one.difference)
              << "\n";
  }
  std::cout << "signature " << signature(decodes) << "\n";
  if (!alike) std::cout << "next:  draftlab golden --write, then git diff " << folder << "\n";
  return alike ? 0 : 1;
}

}  // namespace

Command golden_command() {
  return {
      .name = "golden",
      .arguments = "[FOLDER]",
      .summary =
          "decode the prompts of tests/golden and compare their trajectories with the stored texts",
      .fewest = 0,
      .flags = with_flags(golden)};
}

}  // namespace draftlab
