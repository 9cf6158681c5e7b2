// The grammar's tables, which say what can happen in a story.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace draftlab {

// Values that go together. One row is drawn for a story, so what the row says early on decides what
// it says later.
struct PlotTable {
  // The names of the slots, such as "thing | place".
  std::string columns;
  // The values of the slots, such as "kite | hill".
  std::vector<std::string> rows;
};

// The templates of a story: {slot} is replaced, and (one|other) is a choice.
struct Plot {
  std::string name;
  std::vector<PlotTable> tables;
  std::array<std::vector<std::string>, 5> sentences;
};

// These tables are drawn for every story: day, time, colour, feeling.
const std::vector<PlotTable>& common_tables();
const std::vector<Plot>& story_plots();

}  // namespace draftlab
