// `draftlab distill CONFIG` writes a teacher's answers to a task's prompts as parallel text.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "core/base/files.h"
#include "core/base/progress.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/distill/beam_search.h"
#include "experiments/distill/distill.h"
#include "experiments/distill/distill_options.h"

namespace draftlab {
namespace {

struct DistillFlags {
  std::string out;
  void declare(OptionSet& set) {
    set.add("out", &out).help("Folder of source.txt and target.txt; without it out/CONFIG.");
  }
};

// Makes one line of a parallel text.
std::string line_of(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + "\n";
}

int distill(const DistillFlags& flags, const CommandLine& line, const Registries& registries) {
  Diagnostics diagnostics;
  const Config config = Config::read(line.paths[0], line.overrides, diagnostics);
  diagnostics.raise();
  const std::vector<LoadedArm> arms = load_arms(config, registries);
  if (arms.size() != 1)
    throw ConfigError("{}: [sweep] has {} arms, and a text is distilled from one teacher",
                      line.paths[0], arms.size());
  const LoadedArm& arm = arms.front();
  if (!arm.tokenizer)
    throw ConfigError(
        "{}: a text is distilled from a model with a tokenizer, and model '{}' has none",
        line.paths[0], arm.composition.models.at("").name);
  const DistillOptions& options = arm.composition.section<DistillOptions>();
  const std::string out =
      flags.out.empty() ? "out/" + std::filesystem::path(line.paths[0]).stem().string() : flags.out;
  make_folder(out);

  std::string source, target;
  std::int64_t empty = 0;
  {
    Progress progress("distilling", "prompts", arm.prompts());
    for (int i = 0; i < arm.prompts(); ++i) {
      const Prompt prompt = arm.task->prompt(static_cast<int>(arm.composition.run.first) + i);
      std::vector<Token> given;
      for (const auto& [position, token] : prompt.given) {
        if (position != static_cast<std::int32_t>(given.size()))
          throw ConfigError(
              "{}: prompt {} gives position {} after a masked one; answers are distilled that "
              "follow their prompts",
              line.paths[0], prompt.id, position);
        given.push_back(token);
      }
      Canvas canvas(prompt.length, prompt.given);
      auto position = static_cast<std::int32_t>(given.size());
      for (const Token token :
           beam_search(arm.models.target(), prompt,
                       {static_cast<int>(options.beams), options.length_penalty}))
        canvas.commit(position++, token);
      const std::string answer = arm.task->text(prompt, canvas);
      std::erase(given, arm.tokenizer->begin());
      // A parallel text has no empty lines.
      if (answer.find_first_not_of(" \n") == std::string::npos)
        ++empty;
      else
        source += line_of(arm.tokenizer->decode(given)), target += line_of(answer);
      progress.at(i + 1);
    }
  }
  write_whole(out + "/source.txt", source);
  write_whole(out + "/target.txt", target);
  std::cout << out << "/source.txt and target.txt: the teacher's answers to "
            << arm.prompts() - empty << " prompts";
  if (empty > 0) std::cout << " (" << empty << " empty ones left out)";
  std::cout << std::endl;
  return 0;
}

}  // namespace

Command distill_command() {
  return {
      .name = "distill",
      .arguments = "CONFIG",
      .summary =
          "a teacher's answers to a task's prompts, by beam search, as parallel text to train on",
      .takes_config = true,
      .flags = with_flags(distill)};
}

}  // namespace draftlab
