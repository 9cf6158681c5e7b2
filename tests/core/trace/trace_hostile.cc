// Traces that were damaged, by accident or on purpose: one sentence each, never a crash, a hang or
// a huge allocation.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <random>

#include "core/base/error.h"
#include "core/trace/checksum.h"
#include "tests/complaint.h"
#include "tests/core/trace/trace_fixture.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

using testing::has;

std::string refusal(const std::string& path) {
  try {
    const Trace trace(path);
    trace.read();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Up to sixteen bytes are changed; one file in ten is cut off as well. The checksum is made to fit,
// so that HDF5 meets what was damaged.
std::string damaged(std::string bytes, unsigned seed) {
  std::mt19937 random(seed);
  const unsigned many = 1 + random() % 16;
  for (unsigned i = 0; i < many; ++i) {
    char& byte = bytes[random() % bytes.size()];
    switch (random() % 4) {
      case 0: byte = '\xff'; break;
      case 1: byte = 0; break;
      case 2: byte = static_cast<char>(byte ^ (1 << (random() % 8))); break;
      default: byte = static_cast<char>(random()); break;
    }
  }
  if (random() % 10 == 0) bytes.resize(random() % bytes.size());
  seal(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace

TEST_CASE("files that are no trace are refused") {
  const TraceFolder folder("hostile");
  const std::string good = folder / "good.h5", bad = folder / "bad.h5";
  write_made(good, 4);
  put(bad, "");
  CHECK(has(refusal(bad), "cannot be opened as HDF5"));
  put(bad, "plain text");
  CHECK(has(refusal(bad), "cannot be opened as HDF5"));
  const std::string bytes = testing::contents(good);
  put(bad, bytes.substr(0, bytes.size() / 2));
  CHECK(has(refusal(bad), "is damaged or incomplete"));
  CHECK(has(refusal(folder.path), "is not a file"));
  CHECK(has(refusal(folder / "absent"), "there is no file"));
  ColumnWriter other(1);
  other.attribute("magic", std::string("something else"));
  other.save(bad);
  CHECK(has(refusal(bad), "is no trace"));
}

TEST_CASE("a bit that flips anywhere in a trace is an error") {
  const TraceFolder folder("hostile");
  write_made(folder / "good.h5", 4);
  const std::string bytes = testing::contents(folder / "good.h5"), bad = folder / "bad.h5";
  CHECK(refusal(folder / "good.h5") == "");
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::string flipped = bytes;
    const std::size_t at = random() % flipped.size();
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
    CAPTURE(at);
    const bool intact = is_intact(std::as_bytes(std::span(flipped)));
    // Where the word itself is damaged the file says nothing of its checksum.
    if (flipped.find("draftlab-crc32:") != std::string::npos) CHECK_FALSE(intact);
    if (i % 10 > 0) continue;
    put(bad, flipped);
    CHECK(refusal(bad) != "");
  }
}

TEST_CASE("columns that contradict each other are refused") {
  const TraceFolder folder("hostile");
  const std::string good = folder / "good.h5", bad = folder / "bad.h5";
  write_made(good, 4);
  auto edited = [&](const std::string& column,
                    const std::function<void(ColumnInfo&, Values&)>& edit) {
    rewrite(good, bad, [&](ColumnInfo& info, Values& values) {
      if (info.name == column) edit(info, values);
    });
    return refusal(bad);
  };
  auto set = [](std::int64_t row, std::int64_t value) {
    return [=](ColumnInfo&, Values& values) { std::get<0>(values)[row] = value; };
  };
  CHECK(has(edited("token_p", [](ColumnInfo& info, Values&) { info.name = ""; }),
            "has no column 'token_p'"));
  CHECK(has(edited("token_p", [](ColumnInfo& info, Values&) { info.type = Type::float64; }),
            "not of type float32"));
  CHECK(has(edited("sample_text",
                   [](ColumnInfo& info, Values& values) {
                     info.type = Type::int8, values = std::vector<std::int64_t>(4, 0);
                   }),
            "not of type text"));
  CHECK(has(edited("sample_n_steps", set(0, 1'000'000'000'000)), "do not lie one after the other"));
  CHECK(has(edited("sample_n_steps", set(3, 1000)), "do not lie one after the other"));
  CHECK(has(edited("sample_first_step", set(1, -4)), "do not lie one after the other"));
  CHECK(has(edited("step_n_tokens", set(3, INT64_MAX)), "do not lie one after the other"));
  CHECK(has(edited("step_first_draft", set(0, 7)), "do not lie one after the other"));
  CHECK(has(edited("step_first_token",
                   [](ColumnInfo&, Values& values) {
                     for (std::int64_t& first : std::get<0>(values)) first -= 4;
                   }),
            "rows of 'token' that do not lie one after the other"));
  CHECK(has(edited("step_stop", set(0, 100)), "none of its flag_values"));
  CHECK(has(edited("sample_run_index", set(0, 2)), "a run that it does not list"));
}

TEST_CASE("more rows than the file can hold are refused before anything is allocated") {
  const TraceFolder folder("hostile");
  ColumnWriter file(1);
  file.root(kTraceMagic, trace_tables(), {});
  for (Table table : trace_tables()) file.table(table, 1'000'000'000'000'000);
  file.save(folder / "bad.h5");
  CHECK(has(refusal(folder / "bad.h5"), "more than a file of its size can hold"));
}

TEST_SUITE("fuzz") {
  TEST_CASE("damaged bytes never crash a reader") {
    const TraceFolder folder("fuzz");
    write_made(folder / "good.h5", 3, 3, "2026-01-01T00:00:00Z");
    const std::string bytes = testing::contents(folder / "good.h5"), bad = folder / "bad.h5";
    const auto began = std::chrono::steady_clock::now();
    int tried = 0, refused = 0;
    for (unsigned seed = 0;
         seed < 400 && std::chrono::steady_clock::now() - began < std::chrono::seconds(15);
         ++seed, ++tried) {
      put(bad, damaged(bytes, seed));
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(60);
        ::_exit(refusal(bad).empty() ? 0 : 1);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      INFO("seed ", seed);
      CHECK(WIFEXITED(status));
      refused += WIFEXITED(status) && WEXITSTATUS(status) == 1;
    }
    MESSAGE(tried, " damaged traces, ", refused, " refused");
    CHECK(tried > 0);
    CHECK(refused > tried / 4);
  }
}

}  // namespace draftlab
