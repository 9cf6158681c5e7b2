#include "core/base/missing_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace draftlab {

TEST_CASE("a file that is missing is told the name that it nearly has") {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "draftlab-missing-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  fs::create_directories(folder / "configs" / "base");
  std::ofstream(folder / "configs" / "quickstart.ini") << "\n";
  std::ofstream(folder / "configs" / "a.ini") << "\n";
  const auto hint = [&](const std::string& path) { return file_hint((folder / path).string()); };
  const std::string meant =
      "; did you mean '" + (folder / "configs" / "quickstart.ini").string() + "'?";
  CHECK(hint("configs/quickstrat.ini") == meant);
  CHECK(hint("configs/quickstart") == meant);
  CHECK(hint("config/quickstart.ini") == meant);
  CHECK(hint("config/quickstrat.ini") == meant);
  CHECK(hint("configs/quickstart.ini") == "");
  CHECK(hint("configs/b2.ini") == "");
  CHECK(hint("elsewhere/quickstart.ini") == "");
  fs::remove_all(folder);
}

}  // namespace draftlab
