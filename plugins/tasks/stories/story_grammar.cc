#include "plugins/tasks/stories/story_grammar.h"

#include <map>

#include "core/base/error.h"

namespace draftlab {
namespace {

std::vector<std::string> split_at(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(separator, begin)) != std::string::npos;
       begin = at + separator.size())
    parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::map<std::string, std::size_t>& slot_numbers() {
  static std::map<std::string, std::size_t> numbers;
  return numbers;
}

SlotTable table_of(const PlotTable& table) {
  SlotTable made;
  for (const std::string& column : split_at(table.columns, " | "))
    made.slots.push_back(slot_of(column));
  for (const std::string& row : table.rows) {
    made.rows.push_back(templates_of(split_at(row, " | ")));
    if (made.rows.back().size() != made.slots.size())
      throw Fault("the story table '{}' has a row of another width: '{}'", table.columns, row);
  }
  return made;
}

std::vector<SlotTable> tables_of(const std::vector<PlotTable>& tables) {
  std::vector<SlotTable> made;
  for (const PlotTable& table : tables) made.push_back(table_of(table));
  return made;
}

std::vector<StoryPlot> plots_of(const std::vector<Plot>& plots) {
  std::vector<StoryPlot> made;
  for (const Plot& plot : plots) {
    StoryPlot one{plot.name, tables_of(plot.tables), {}};
    for (std::size_t i = 0; i < plot.sentences.size(); ++i)
      one.sentences[i] = templates_of(plot.sentences[i]);
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace

std::size_t slot_of(const std::string& name) {
  return slot_numbers().emplace(name, slot_numbers().size()).first->second;
}

std::size_t slot_count() { return slot_numbers().size(); }

Template template_of(const std::string& source) {
  using Kind = Template::Kind;
  Template made{source, {}};
  std::size_t begin = 0;
  for (std::size_t open; (open = source.find_first_of("{(", begin)) != std::string::npos;) {
    if (open > begin)
      made.pieces.push_back({.kind = Kind::text, .text = source.substr(begin, open - begin)});
    const bool slot = source[open] == '{';
    const std::size_t close = source.find(slot ? '}' : ')', open);
    const std::string within = source.substr(open + 1, close - open - 1);
    if (slot)
      made.pieces.push_back({.kind = Kind::slot, .text = within, .slot = slot_of(within)});
    else
      made.pieces.push_back({.kind = Kind::choice, .options = split_at(within, "|")});
    begin = close + 1;
  }
  if (begin < source.size())
    made.pieces.push_back({.kind = Kind::text, .text = source.substr(begin)});
  return made;
}

std::vector<Template> templates_of(const std::vector<std::string>& sources) {
  std::vector<Template> made;
  for (const std::string& source : sources) made.push_back(template_of(source));
  return made;
}

const std::vector<SlotTable>& common_slot_tables() {
  static const std::vector<SlotTable> tables = tables_of(common_tables());
  return tables;
}

const std::vector<StoryPlot>& plots() {
  static const std::vector<StoryPlot> all = plots_of(story_plots());
  return all;
}

}  // namespace draftlab
