#include "core/base/progress.h"

#include <doctest/doctest.h>

#include <sstream>

namespace draftlab {

TEST_CASE("durations") {
  CHECK(duration(0.84) == "0.8 s");
  CHECK(duration(42.3) == "42 s");
  CHECK(duration(185) == "3 min 05 s");
  CHECK(duration(7800) == "2 h 10 min");
}

TEST_CASE("a log gets plain lines, ten seconds apart") {
  std::ostringstream log;
  double now = 0;
  {
    Progress progress("decoding", "samples", 100, 20);
    progress.show_on({&log, false, [&] { return now; }});
    now = 5;
    progress.at(25);
    CHECK(log.str().empty());
    now = 10;
    progress.at(40, "NFE 12");
    // There were 20 of them in 10 s.
    CHECK(log.str() == "decoding: 40 of 100 samples, 2.00 a second, 30 s left, NFE 12\n");
    now = 12;
    progress.add();
  }
  CHECK(log.str().find('\r') == std::string::npos);
  CHECK(log.str().find("41 of") == std::string::npos);
}

TEST_CASE("a terminal gets one line that is rewritten") {
  std::ostringstream terminal;
  double now = 0;
  {
    Progress progress("training", "steps", 10, 0);
    progress.show_on({&terminal, true, [&] { return now; }});
    now = 4;
    progress.at(1, "loss 3.2");
    CHECK(terminal.str() == "\rtraining: 1 of 10 steps, 4.0 s each, 36 s left, loss 3.2");
    now = 4.05;
    progress.at(2);  // Too soon to show.
    CHECK(terminal.str().find("2 of") == std::string::npos);
    now = 5;
    progress.at(10);
  }
  const std::string text = terminal.str();
  CHECK(text.find("\rtraining: 10 of 10 steps, 2.00 a second ") !=
        std::string::npos);  // Blanks cover the longer line.
  CHECK(text.back() == '\n');
}

TEST_CASE("work that was too short to show leaves no line") {
  std::ostringstream terminal;
  {
    Progress progress("decoding", "samples", 1, 0);
    progress.show_on({&terminal, true, [] { return 0.0; }});
  }
  CHECK(terminal.str().empty());
}

}  // namespace draftlab
