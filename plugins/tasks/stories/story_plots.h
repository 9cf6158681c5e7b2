// The grammar's tables: what can happen in a story.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace draftlab {

// Values that go together. One row is drawn a story, so what the row says early on decides what it
// says later.
struct PlotTable {
  std::string columns;            // "thing | place": the names of the slots
  std::vector<std::string> rows;  // "kite | hill"
};

// Templates: {slot} is replaced, (one|other) is a choice.
struct Plot {
  std::string name;
  std::vector<PlotTable> tables;
  std::array<std::vector<std::string>, 5> sentences;
};

const std::vector<PlotTable>& common_tables();  // drawn for every story: day, time, colour, feeling
const std::vector<Plot>& story_plots();

}  // namespace draftlab
