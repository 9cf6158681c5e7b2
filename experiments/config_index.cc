#include "experiments/config_index.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <regex>

#include "core/base/error.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

// Names such as "ASSD, ", "Stern et al., " or "slides, ", and then "Table 1" or "Figures 7 to 12".
const std::string kNames = R"((?:(?:(?:[A-Z]\w*|et|al\.|slides) ?)+, )?)";
const std::string kThing = R"(\b(?:Tables?|Figures?|Appendix|Theorem|Algorithm|Equation|Sec\.) )";
const std::string kNumber = R"([A-Z0-9][0-9a-z]*(?:\.[0-9]+)*(?:(?:, | and | to )[0-9]+[a-z]?)*)";
const std::regex kItem(kNames + kThing + kNumber);

// Returns the comment that opens a file, line by line, without its marks.
std::string opening_comment(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw DataError("'{}' cannot be read", path.string());
  std::string comment, line;
  while (std::getline(file, line) && !line.empty() && (line[0] == '#' || line[0] == ';')) {
    line.erase(0, line.size() > 1 && line[1] == ' ' ? 2 : 1);
    comment += line + "\n";
  }
  return comment;
}

// Returns the words between `begin` and the full stop that ends their sentence, or "".
std::string sentence_behind(const std::string& comment, const std::string& begin) {
  const std::size_t at = comment.find(begin);
  if (at == std::string::npos) return "";
  const std::string sentence = first_sentence(comment.substr(at));
  return sentence.substr(begin.size(), sentence.find_last_not_of('.') + 1 - begin.size());
}

// Returns the command of draftlab that the comment shows for this file, or that of its folder.
std::string command_of(const fs::path& path, const std::string& comment) {
  const std::string name = path.generic_string();
  std::string pattern;
  for (const char c : name) pattern += (c == '.' ? "\\" : "") + std::string(1, c);
  std::smatch found;
  if (std::regex_search(comment, found,
                        std::regex("draftlab ((?:bench )?[a-z]+) configs/" + pattern)))
    return found[1];
  const std::string folder = path.begin()->string();
  if (folder == "base" || folder == "models") return "";
  return folder == "certify" || folder == "train" ? folder : "run";
}

// Returns a text for the cell of a table in Markdown.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '<' ? "&lt;" : std::string(1, c);
  }
  return result.empty() ? "-" : result;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

ConfigEntry described(const fs::path& path, const std::string& comment) {
  ConfigEntry entry;
  entry.path = path;
  entry.question = first_sentence(comment);
  entry.takes = sentence_behind(comment, "This takes ");
  entry.command = command_of(path, comment);
  std::smatch found;
  if (!std::regex_search(entry.question, found, kItem)) return entry;
  entry.item = found.str();
  if (found.position() != 0) return entry;
  const std::size_t begin = entry.question.find_first_not_of(" ,:", entry.item.size());
  if (begin == std::string::npos) return entry;
  entry.question.erase(0, begin);
  entry.question[0] = static_cast<char>(std::toupper(entry.question[0]));
  return entry;
}

std::vector<ConfigEntry> config_index(const fs::path& folder) {
  std::vector<ConfigEntry> index;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder))
    if (file.path().extension() == ".ini")
      index.push_back(described(fs::relative(file.path(), folder), opening_comment(file.path())));
  std::sort(index.begin(), index.end(),
            [](const ConfigEntry& a, const ConfigEntry& b) { return a.path < b.path; });
  return index;
}

void print_configs(const std::vector<ConfigEntry>& index, const fs::path& folder,
                   const std::string& word) {
  const fs::path near = fs::proximate(folder);
  const fs::path shown = *near.begin() == ".." ? folder : near;
  const std::string wanted = lower(word);
  int count = 0;
  for (const ConfigEntry& entry : index) {
    const std::string path = (shown / entry.path).string();
    if (lower(entry.path.string() + "\n" + entry.item + "\n" + entry.question).find(wanted) ==
        std::string::npos)
      continue;
    ++count;
    std::cout << path << "  (" << (entry.command.empty() ? "included by others" : entry.command)
              << (entry.takes.empty() ? "" : ", " + entry.takes) << ")\n    "
              << (entry.item.empty() ? "" : entry.item + ": ") << entry.question << "\n";
  }
  if (count == 0) throw UsageError("no config's path or question holds '{}'", word);
}

void print_config_tables(const std::vector<ConfigEntry>& index) {
  fs::path folder;
  for (const ConfigEntry& entry : index) {
    if (entry.path.parent_path() != folder || &entry == &index.front()) {
      folder = entry.path.parent_path();
      std::cout << (&entry == &index.front() ? "" : "\n") << "### "
                << (folder.empty() ? "configs" : folder.generic_string())
                << "\n\n| config | paper | question | takes | command |\n|---|---|---|---|---|\n";
    }
    const std::string path = entry.path.generic_string();
    std::cout << "| [" << entry.path.filename().string() << "](" << path << ") | "
              << cell(entry.item) << " | " << cell(entry.question) << " | " << cell(entry.takes)
              << " | "
              << (entry.command.empty() ? "included by others"
                                        : "`./draftlab " + entry.command + " configs/" + path + "`")
              << " |\n";
  }
}

}  // namespace draftlab
