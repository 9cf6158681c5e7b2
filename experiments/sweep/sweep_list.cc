// The list of a sweep's cells, cells.json: what --status, --gather and --cancel read instead of
// composing the cells, which takes the parts that the config names.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/documents.h"
#include "core/base/files.h"
#include "experiments/sweep/sweep_folder.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDigits = "0123456789abcdef-";  // Those of a cell's id.

SweepCell cell_of(const Json& row, const std::string& list) {
  SweepCell cell;
  cell.id = row.at("id"), cell.cell.label = row.at("label"), cell.cell.name = row.at("name");
  cell.cell.shown = row.at("shown");
  cell.first = row.at("first"), cell.prompts = row.at("prompts"), cell.samples = row.at("samples");
  // The id names files.
  if (cell.id.empty() || cell.id.find_first_not_of(kDigits) != std::string::npos)
    throw DataError("'{}' is damaged: '{}' is no id of a cell", list, cell.id);
  return cell;
}

}  // namespace

void SweepFolder::save_list() const {
  Json cells = Json::array();
  for (const SweepCell& cell : cells_) {
    cells.push_back({{"id", cell.id},
                     {"label", cell.cell.label},
                     {"name", cell.cell.name},
                     {"shown", cell.cell.shown},
                     {"first", cell.first},
                     {"prompts", cell.prompts},
                     {"samples", cell.samples}});
  }
  const Json list = {{"config", id_of(read_utf8(path_ + "/config.ini"))}, {"cells", cells}};
  write_whole(path_ + "/cells.json", list.dump() + "\n");
}

bool SweepFolder::has_list() const {
  const std::string list = path_ + "/cells.json";
  if (!std::filesystem::is_regular_file(list)) return false;
  const Json json = Json::parse(read_utf8(list), nullptr, false);
  const std::string of = id_of(read_utf8(path_ + "/config.ini"));
  return json.is_object() && json.value("config", Json()) == Json(of);
}

SweepFolder SweepFolder::open_list(const std::string& path) {
  SweepFolder folder;
  folder.open_files(path);
  const std::string list = folder.path_ + "/cells.json";
  if (!folder.has_list())
    throw DataError(
        "'{}' has no cells.json that lists the cells of its config; go on with it once, which "
        "makes the list: draftlab sweep {}",
        path, path);
  try {
    const Json json = Json::parse(read_utf8(list));
    for (const Json& row : json.at("cells")) folder.cells_.push_back(cell_of(row, list));
  } catch (const Json::exception& error) {
    throw DataError("'{}' is damaged: {}", list, error.what());
  }
  return folder;
}

}  // namespace draftlab
