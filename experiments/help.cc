// `draftlab help [TOPIC]` explains a command, a part, a section of a config, a figure, or prints a
// page of docs/; without a topic it lists the commands. `draftlab help --man` prints the man page.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

#include "analysis/figures/plot.h"
#include "core/base/documents.h"
#include "core/trace/provenance.h"
#include "experiments/command/parse.h"
#include "experiments/commands.h"
#include "experiments/describe.h"
#include "experiments/man_page.h"
#include "plugins/remote/python_plugin.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

struct HelpFlags {
  bool man = false;
  void declare(OptionSet& set) { set.add("man", &man).help("Prints the man page, for `man -l`."); }
};

// The folder of the pages: in the source tree, or in an installation. It need not be there.
fs::path pages_folder() {
  const fs::path root = fs::path(python_package()).parent_path(), in_tree = root / "docs";
  return fs::is_directory(in_tree) ? in_tree : root.parent_path() / "doc/draftlab/docs";
}

// "EXIT_CODES.md" is the topic "exit-codes".
std::string topic_of(const fs::path& page) {
  std::string topic = page.stem().string();
  for (char& c : topic) c = c == '_' ? '-' : static_cast<char>(std::tolower(c));
  return topic;
}

// The pages by their topics; none where no docs came with the program.
std::vector<std::pair<std::string, fs::path>> pages() {
  std::vector<std::pair<std::string, fs::path>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(pages_folder(), error)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".md" && path.stem() != "README")
      found.emplace_back(topic_of(path), path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool print_topic(const std::string& topic, const Registries& registries) {
  const auto all = pages();
  const auto page =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == topic; });
  for (const Command& command : commands()) {
    if (command.name != topic) continue;
    print_help(command, std::cout);
    if (page != all.end()) std::cout << page->second.string() << " says more.\n";
    return true;
  }
  if (page != all.end()) return std::cout << read_utf8(page->second.string()), true;
  for (const FigureInfo& figure : figures()) {
    if (figure.name != topic) continue;
    std::cout << "figure " << topic << ": " << figure.doc << "\n\ndraftlab plot TRACE --figure "
              << topic << " draws it.\n";
    return true;
  }
  return describe(topic, registries);
}

int help(const HelpFlags& flags, const CommandLine& line, const Registries& registries) {
  if (flags.man) {
    if (!line.paths.empty()) throw UsageError("--man prints all commands; leave out the topic");
    return print_man_page(std::cout), 0;
  }
  if (line.paths.empty()) return print_overview(), 0;
  const std::string& topic = line.paths[0];
  if (print_topic(topic, registries)) return 0;
  const std::vector<std::string> known = help_topics(registries);
  std::string near = nearest(topic, known);
  if (near.empty()) near = nearest_described(topic, registries);
  throw UsageError(
      "there is no help on '{}'; {}", topic,
      near.empty() ? "draftlab help lists the topics" : "did you mean '" + near + "'?");
}

}  // namespace

std::vector<std::string> help_topics(const Registries& registries) {
  std::vector<std::string> topics;
  for (const Command& command : commands()) topics.push_back(command.name);
  for (const auto& [name, path] : pages()) topics.push_back(name);
  for (const FigureInfo& figure : figures()) topics.push_back(figure.name);
  for (const std::string& name : described_names(registries)) topics.push_back(name);
  return topics;
}

void print_overview() {
  std::cout << "draftlab " << version()
            << ": a laboratory for parallel decoding\n\nusage: draftlab COMMAND ...\n\n";
  for (const Command& command : commands()) {
    const std::string usage =
        command.name + (command.arguments.empty() ? "" : " " + command.arguments);
    std::cout << "  " << usage << std::string(usage.size() < 24 ? 26 - usage.size() : 2, ' ')
              << command.summary << "\n";
  }
  std::cout << "\ndraftlab COMMAND --help says more. --plugin libmine.so loads plugins of your "
               "own, before any command.\n"
               "draftlab help TOPIC explains a part, a section of a config, a figure, or prints a "
               "page:\n";
  std::string row = "   ";
  for (const auto& [name, path] : pages()) {
    if (row.size() + name.size() > 96) std::cout << row << "\n", row = "   ";
    row += " " + name;
  }
  std::cout << row << "\nBegin with: " << program_name() << " run configs/quickstart.ini\n";
}

Command help_command() {
  return {.name = "help",
          .arguments = "[TOPIC]",
          .summary = "a command, a part, a section, a figure, or a page of the documentation",
          .fewest = 0,
          .flags = with_flags(help)};
}

}  // namespace draftlab
