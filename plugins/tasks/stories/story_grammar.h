// The tables of story_plots.h, taken apart once, so that a story is told without reading them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "plugins/tasks/stories/story_plots.h"

namespace draftlab {

// A text in which {slot} is replaced by what the slot holds, and (one|other) is a choice.
struct Template {
  enum class Kind { text, slot, choice };
  struct Piece {
    Kind kind = Kind::text;
    std::string text = {};
    std::size_t slot = 0;
    std::vector<std::string> options = {};
  };
  std::string source;
  std::vector<Piece> pieces;
};

// A table whose row says what its slots hold.
struct SlotTable {
  std::vector<std::size_t> slots;
  std::vector<std::vector<Template>> rows;
};

struct StoryPlot {
  std::string name;
  std::vector<SlotTable> tables;
  std::array<std::vector<Template>, 5> sentences;
};

// Returns the number of a slot's name, which it gets when it is first asked for.
std::size_t slot_of(const std::string& name);
// Returns how many names of slots the grammar has.
std::size_t slot_count();

Template template_of(const std::string& source);
std::vector<Template> templates_of(const std::vector<std::string>& sources);

// The tables that are drawn for every story, and the plots.
const std::vector<SlotTable>& common_slot_tables();
const std::vector<StoryPlot>& plots();

}  // namespace draftlab
