#include "core/base/missing_file.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/error.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNames = 10000;  // Of a folder with more, not all are compared.

// Returns the path itself where it exists, and otherwise the one that its name and those of its
// folders are nearest to; "" where there is none.
fs::path nearest_path(const fs::path& path) {
  std::error_code error;
  if (path.empty() || fs::exists(path, error)) return path;
  if (!path.has_filename()) return {};
  const fs::path folder = nearest_path(path.parent_path());
  if (folder.empty() && path.has_parent_path()) return {};
  if (fs::exists(folder / path.filename(), error)) return folder / path.filename();
  // Names are compared without their endings, in which most files of a folder agree.
  std::vector<std::string> stems;
  std::vector<fs::path> names;
  for (fs::directory_iterator at(folder.empty() ? fs::path(".") : folder, error), end;
       !error && at != end && names.size() < kMostNames; at.increment(error)) {
    names.push_back(at->path().filename());
    stems.push_back(names.back().stem().string());
  }
  const std::string stem = nearest(path.stem().string(), stems);
  const auto found = std::find(stems.begin(), stems.end(), stem);
  return stem.empty() || found == stems.end() ? fs::path() : folder / names[found - stems.begin()];
}

}  // namespace

std::string file_hint(const std::string& path) {
  const std::string near = nearest_path(path).string();
  return near.empty() || near == path ? "" : "; did you mean '" + near + "'?";
}

}  // namespace draftlab
