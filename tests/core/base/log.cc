#include "core/base/log.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <vector>

#include "core/base/error.h"

namespace draftlab {
namespace {

TEST_CASE("a log holds what is said at its level and above, a line each") {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("draftlab-log-" + std::to_string(::getpid()) + ".txt"))
                               .string();
  log(LogLevel::error, "before any log is open");
  open_log(path, LogLevel::info);
  CHECK(logging());
  log(LogLevel::debug, "too little");
  log(LogLevel::info, "one\nline {} %s");
  log(LogLevel::error, "another");
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  REQUIRE(lines.size() == 2);
  const std::regex shape(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|error) \d+ .*)");
  CHECK(std::regex_match(lines[0], shape));
  CHECK(lines[0].ends_with("one line {} %s"));
  CHECK(lines[1].ends_with("another"));
  CHECK_THROWS_AS(open_log(path + "/below-a-file.txt"), OutputError);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace draftlab
