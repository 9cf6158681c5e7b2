#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "plugins/models/rwkv/rwkv_net.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

const fs::path kHere = fs::path(DRAFTLAB_SOURCE_DIR) / "tests/plugins/models/rwkv";

RwkvNet net_of(const fs::path& path) {
  RwkvWeights weights = read_rwkv(path.string());
  const bool seven = weights.version == RwkvVersion::v7;
  return RwkvNet(std::move(weights), seven ? 64e-5 : 1e-5);
}

// The logits after each token, and the state after all of them.
struct Run {
  std::vector<std::vector<float>> logits;
  std::vector<float> state;
};

// Reads the tokens in pieces of so many rows.
Run run(RwkvNet& net, const std::vector<Token>& text, std::size_t piece) {
  Run made;
  made.state.resize(net.state_size());
  made.logits.assign(text.size(), std::vector<float>(net.weights().vocabulary));
  std::vector<RecurrentRow> rows;
  for (std::size_t i = 0; i < text.size(); ++i) {
    rows.push_back({text[i], made.state.data(), made.state.data(), made.logits[i].data()});
    if (rows.size() < piece && i + 1 < text.size()) continue;
    net.run(rows);
    rows.clear();
  }
  return made;
}

std::string why_refused(const fs::path& path) {
  try {
    read_rwkv(path.string());
  } catch (const DataError& error) {
    return error.what();
  }
  return "read";
}

TEST_CASE("rwkv: random weights give the logits of numpy, from either kind of file") {
  for (const std::string version : {"5.2", "7"}) {
    CAPTURE(version);
    const auto recorded =
        nlohmann::json::parse(testing::contents(kHere / ("small-" + version + ".json")));
    const std::vector<Token> text = recorded["text"];
    const std::vector<std::vector<double>> expected = recorded["logits"];
    RwkvNet net = net_of(kHere / ("small-" + version + ".bin"));
    const Run own = run(net, text, text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
      for (std::size_t token = 0; token < expected[i].size(); ++token)
        CHECK(own.logits[i][token] == doctest::Approx(expected[i][token]).epsilon(1e-4));
    RwkvNet published = net_of(kHere / ("small-" + version + ".safetensors"));
    const Run other = run(published, text, text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
      for (std::size_t token = 0; token < expected[i].size(); ++token)
        CHECK(std::abs(own.logits[i][token] - other.logits[i][token]) < 2e-5);
    CHECK(published.weights().version == net.weights().version);
  }
}

TEST_CASE("rwkv: a chunk of rows equals token by token, to the last bit") {
  for (const std::string version : {"5.2", "7"}) {
    CAPTURE(version);
    RwkvNet net = net_of(kHere / ("small-" + version + ".bin"));
    std::vector<Token> text;
    for (int i = 0; i < 150; ++i) text.push_back(i * i % 12);
    const Run one = run(net, text, 1);
    for (const std::size_t piece : {2, 3, 16, 64, 65, 150}) {
      const Run many = run(net, text, piece);
      CHECK(many.logits == one.logits);
      CHECK(many.state == one.state);
    }
  }
}

TEST_CASE("rwkv: rows whose logits nobody wants leave the same state") {
  for (const std::string version : {"5.2", "7"}) {
    RwkvNet net = net_of(kHere / ("small-" + version + ".bin"));
    const std::vector<Token> text = {3, 1, 4, 1, 5};
    std::vector<float> state(net.state_size());
    std::vector<RecurrentRow> rows;
    for (const Token token : text)
      rows.push_back({.token = token, .before = state.data(), .after = state.data()});
    net.run(rows);
    CHECK(state == run(net, text, 1).state);
  }
}

TEST_CASE("rwkv: the logits that rwkv.cpp recorded") {
  const char* const named = std::getenv("DRAFTLAB_DATA");
  const fs::path folder =
      (named ? fs::path(named) : fs::path(DRAFTLAB_SOURCE_DIR) / "../shared/data") /
      "real/tiny-rwkv";
  if (!fs::is_directory(folder)) {
    std::cout << "skipped: tiny-rwkv is not at " << folder.string() << "\n";
    return;
  }
  for (const std::string name : {"5v2-730K", "7v0-834K"}) {
    CAPTURE(name);
    RwkvNet net = net_of(folder / ("tiny-rwkv-" + name + "-FP32.bin"));
    const std::string recorded = testing::contents(folder / ("expected-logits-" + name + ".bin"));
    const Run own = run(net, {'"', 'i', 'n'}, 3);
    REQUIRE(recorded.size() == own.logits[2].size() * sizeof(float));
    double furthest = 0;
    for (std::size_t i = 0; i < own.logits[2].size(); ++i) {
      float expected;
      std::memcpy(&expected, recorded.data() + i * sizeof expected, sizeof expected);
      furthest = std::max<double>(furthest, std::abs(expected - own.logits[2][i]));
    }
    // Logits below 8 have steps of 4.8e-7 in f32; sums in another order lie some steps apart.
    CHECK(furthest < 1e-5);
    MESSAGE(name << ": largest difference " << furthest);
  }
}

TEST_CASE("rwkv: files that are cut, turned or of another version are refused in a sentence") {
  const fs::path path = testing::scratch("rwkv.bin");
  const std::string whole = testing::contents(kHere / "small-7.bin");
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return why_refused(path);
  };
  const auto with = [&](std::size_t at, char value) {
    std::string bytes = whole;
    bytes[at] = value;
    return bytes;
  };
  CHECK(refused(whole) == "read");
  for (std::size_t size = 0; size < whole.size(); size += 31) {
    CAPTURE(size);
    CHECK(refused(whole.substr(0, size)) != "read");
  }
  CHECK(refused(with(0, 'x')).find("neither a file of rwkv.cpp") != std::string::npos);
  CHECK(refused(with(4, 100)).find("version 100") != std::string::npos);
  CHECK(refused(with(20, 2)).find("of type 2") != std::string::npos);
  CHECK(refused(with(24, 9)).find("number of dimensions") != std::string::npos);
  const std::size_t name = whole.find("ln_out.bias");
  CHECK(refused(with(name, 'x')).find("no tensor 'ln_out.bias'") != std::string::npos);
  fs::remove(path);
}

}  // namespace
}  // namespace draftlab
