// The trajectories that the page shows, as columns: samples, their steps, tokens and drafts.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace draftlab {

struct PageTrajectories {
  using Json = nlohmann::ordered_json;
  // Columns by name; a column has one number a row of its table.
  Json columns = Json::object();
  // The text and the id of each word that the columns name by its index.
  Json pieces = Json::array(), ids = Json::array();
  // The decoded text of each sample.
  Json texts = Json::array();
  // The right answer of each prompt, where the task has one.
  std::vector<std::string> references;
  // Whether any arm decodes in blocks.
  bool blocks = false;
};

// Reads the samples of the first `prompts` prompts. Samples of one group and prompt (other seeds,
// repeats) are numbered.
PageTrajectories page_trajectories(const Frame& frame, const Report& report, int prompts);

}  // namespace draftlab
