#include "analysis/inspect/image_sheet.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/frame/frame.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/npy.h"
#include "core/base/png.h"
#include "core/base/table.h"
#include "core/metrics/image_metrics.h"

namespace draftlab {
namespace {

constexpr Rgb kPaper{255, 255, 255}, kAccepted{0, 150, 60}, kReplaced{220, 40, 30},
    kBonus{40, 90, 220};

// One decoded image: its tokens in the order of positions, and how each came to be.
struct DecodedImage {
  std::vector<Eigen::VectorXd> tokens;
  // kPaper means that there is no mark.
  std::vector<Rgb> marks;
};

Rgb mark_of(const StepRow& step, const TokenRow& token) {
  // This is the target's own draw.
  for (const DraftRow& draft : step.drafts)
    if (draft.position == token.position && draft.depth < step.exact) return kPaper;
  switch (static_cast<Source>(token.source)) {
    case Source::accepted: return kAccepted;
    case Source::resampled: return kReplaced;
    case Source::bonus: return kBonus;
    default: return kPaper;
  }
}

DecodedImage image_of(const SampleRow& sample) {
  std::map<std::int32_t, std::pair<Eigen::VectorXd, Rgb>> at;
  for (const StepRow& step : sample.steps)
    for (const TokenRow& token : step.tokens)
      if (token.value.size() > 0) at[token.position] = {token.value, mark_of(step, token)};
  DecodedImage image;
  for (auto& [position, token] : at) {
    image.tokens.push_back(std::move(token.first));
    image.marks.push_back(token.second);
  }
  return image;
}

// How tokens lie in a square image of one channel, each a square of values in raster order. All is
// zero where they do not.
struct Layout {
  int patch = 0, across = 0;
  Layout(std::int64_t positions, std::int64_t dimension) {
    const auto root = [](std::int64_t n) {
      const auto r = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(n))));
      return r * r == n ? static_cast<int>(r) : 0;
    };
    patch = root(dimension), across = root(positions);
  }
  bool square() const { return patch > 0 && across > 0; }
  int side() const { return patch * across; }
};

// The values of black and white: those of intensities 0 and 1, where the config says how values
// were computed from intensities.
struct GreyLevels {
  double black = -1, white = 1;
  bool told = false;
  explicit GreyLevels(const std::string& config) {
    const std::map<std::string, std::string> keys = config_keys(config);
    const auto mean = keys.find("task.images.mean"), deviation = keys.find("task.images.deviation");
    told =
        mean != keys.end() && deviation != keys.end() && std::atof(deviation->second.c_str()) > 0;
    if (told)
      black = -std::atof(mean->second.c_str()) / std::atof(deviation->second.c_str()),
      white = black + 1 / std::atof(deviation->second.c_str());
  }
  Rgb of(double value) const {
    const auto level = static_cast<std::uint8_t>(
        std::lround(255 * std::clamp((value - black) / (white - black), 0.0, 1.0)));
    return {level, level, level};
  }
};

// Draws an image with its upper left corner at (x, y); a value becomes a square of `zoom` pixels.
void draw(Raster& raster, int x, int y, int zoom, const Layout& layout,
          const std::vector<Eigen::VectorXd>& tokens, const GreyLevels& levels) {
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const int left = static_cast<int>(t) % layout.across * layout.patch,
              top = static_cast<int>(t) / layout.across * layout.patch;
    for (int v = 0; v < layout.patch * layout.patch; ++v)
      raster.fill(x + (left + v % layout.patch) * zoom, y + (top + v / layout.patch) * zoom, zoom,
                  zoom, levels.of(tokens[t][v]));
  }
}

void write_images(const std::string& folder, const GreyLevels& levels, std::int64_t positions,
                  std::int64_t dimension, const std::vector<float>& tokens) {
  const Layout layout(positions, dimension);
  if (!layout.square()) return;
  make_folder(folder + "/images");
  const std::int64_t count = static_cast<std::int64_t>(tokens.size()) / (positions * dimension);
  std::vector<Eigen::VectorXd> image(static_cast<std::size_t>(positions));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t t = 0; t < positions; ++t)
      image[static_cast<std::size_t>(t)] =
          Eigen::Map<const Eigen::VectorXf>(tokens.data() + (i * positions + t) * dimension,
                                            dimension)
              .cast<double>();
    Raster raster(layout.side(), layout.side());
    draw(raster, 0, 0, 1, layout, image, levels);
    std::string name = std::to_string(i);
    name.insert(0, name.size() < 6 ? 6 - name.size() : 0, '0');
    write_png(folder + "/images/" + name + ".png", raster);
  }
}

std::string folder_name(const RunRow& run, std::size_t index) {
  std::string name = run.arm.empty() ? "arm-" + std::to_string(index) : run.arm;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '-');
  return name;
}

}  // namespace

std::string write_sheet(const Trace& trace, const std::string& path, const SheetOptions& options) {
  // The key holds prompt and repeat.
  using Key = std::pair<std::int32_t, std::int32_t>;
  // For each arm: the rows by key.
  std::map<int, std::map<Key, std::int64_t>> rows;
  std::set<Key> all;
  std::int64_t at = 0;
  for (const SampleRow& sample : trace.read(false)) {
    const Key key{sample.prompt_index, sample.sample_index};
    if (options.run < 0 || sample.run == options.run) rows[sample.run][key] = at, all.insert(key);
    ++at;
  }
  const bool alone = rows.size() == 1;
  constexpr int kAcross = 10;
  const std::int64_t wanted = options.images > 0 ? options.images : alone ? 6 * kAcross : kAcross;
  std::vector<Key> keys(all.begin(), all.end());
  keys.erase(
      keys.begin(),
      keys.begin() + std::min<std::int64_t>(options.first, static_cast<std::int64_t>(keys.size())));
  if (static_cast<std::int64_t>(keys.size()) > wanted)
    keys.resize(static_cast<std::size_t>(wanted));
  if (keys.empty()) throw UsageError("'{}' has no such samples", trace.path());

  std::map<std::pair<int, Key>, DecodedImage> images;
  std::int64_t positions = 0, dimension = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& [run, of_run] : rows) {
    for (const Key& key : keys) {
      const auto found = of_run.find(key);
      if (found == of_run.end()) continue;
      DecodedImage image = image_of(trace.sample(found->second));
      if (image.tokens.empty()) throw DataError("'{}' has no vector tokens to draw", trace.path());
      if (positions == 0)
        positions = static_cast<std::int64_t>(image.tokens.size()),
        dimension = image.tokens.front().size();
      if (static_cast<std::int64_t>(image.tokens.size()) != positions ||
          image.tokens.front().size() != dimension)
        throw DataError("'{}' holds images of several sizes; name one arm", trace.path());
      for (const Eigen::VectorXd& token : image.tokens)
        low = std::min(low, token.minCoeff()), high = std::max(high, token.maxCoeff());
      images.emplace(std::pair(run, key), std::move(image));
    }
  }
  const Layout layout(positions, dimension);
  if (!layout.square())
    throw DataError("'{}' has {} tokens of {} values, which are no square image of square patches",
                    trace.path(), positions, dimension);

  GreyLevels levels(trace.runs()[static_cast<std::size_t>(rows.begin()->first)].config);
  if (!levels.told) levels.black = low, levels.white = high > low ? high : low + 1;
  const int zoom = std::max(1, 96 / layout.side()), gap = 6, cell = layout.side() * zoom + gap;
  const int columns = static_cast<int>(
      alone ? std::min<std::int64_t>(kAcross, static_cast<std::int64_t>(keys.size()))
            : static_cast<std::int64_t>(keys.size()));
  const int lines = alone ? (static_cast<int>(keys.size()) + columns - 1) / columns
                          : static_cast<int>(rows.size());
  Raster raster(columns * cell + gap, lines * cell + gap, kPaper);
  std::string legend =
      path + ": columns are prompts, from " + std::to_string(keys.front().first) + " on";
  int line = 0;
  for (const auto& [run, of_run] : rows) {
    const RunRow& row = trace.runs()[static_cast<std::size_t>(run)];
    legend += "\n  row " + std::to_string(line + 1) + (alone ? " and on" : "") + ": " +
              (row.arm.empty() ? row.id : row.arm);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto found = images.find({run, keys[k]});
      if (found == images.end()) continue;
      const int column = static_cast<int>(k) % columns, x = gap + column * cell,
                y = gap + (line + static_cast<int>(k) / columns) * cell;
      draw(raster, x, y, zoom, layout, found->second.tokens, levels);
      for (std::size_t t = 0; options.outlines && t < found->second.marks.size(); ++t) {
        if (found->second.marks[t] == kPaper) continue;
        const int side = layout.patch * zoom, left = static_cast<int>(t) % layout.across,
                  top = static_cast<int>(t) / layout.across;
        raster.outline(x + left * side, y + top * side, side, side, std::max(1, side / 16),
                       found->second.marks[t]);
      }
    }
    ++line;
  }
  write_png(path, raster);
  if (options.outlines)
    legend +=
        "\n  outlined: green accepted, red replaced, blue bonus; the others are the target's own "
        "draws or were not verified";
  return legend + "\n  black is " + fixed(levels.black, 3) + ", white " + fixed(levels.white, 3) +
         "\n";
}

std::vector<std::string> export_images(const Trace& trace, const std::string& folder) {
  struct Gathered {
    std::int64_t positions = 0, dimension = 0;
    std::vector<float> tokens, labels;
    std::string samples;
  };
  std::vector<Gathered> of_run(trace.runs().size());
  constexpr std::int64_t kBlock = 256;
  for (std::int64_t first = 0; first < trace.samples(); first += kBlock) {
    for (const SampleRow& sample : trace.read(first, std::min(kBlock, trace.samples() - first))) {
      const DecodedImage image = image_of(sample);
      if (image.tokens.empty())
        throw DataError("'{}' has no vector tokens to export", trace.path());
      Gathered& gathered = of_run[static_cast<std::size_t>(sample.run)];
      if (gathered.tokens.empty())
        gathered.positions = static_cast<std::int64_t>(image.tokens.size()),
        gathered.dimension = image.tokens.front().size();
      if (static_cast<std::int64_t>(image.tokens.size()) != gathered.positions)
        throw DataError("'{}' holds images of several sizes in one arm", trace.path());
      for (const Eigen::VectorXd& token : image.tokens)
        for (const double value : token) gathered.tokens.push_back(static_cast<float>(value));
      for (const auto& [name, value] : sample.scores)
        if (name == kImageLabel) gathered.labels.push_back(static_cast<float>(value));
      gathered.samples += sample.prompt_id + " " + std::to_string(sample.sample_index) + "\n";
    }
  }
  std::vector<std::string> folders;
  for (std::size_t run = 0; run < of_run.size(); ++run) {
    const Gathered& gathered = of_run[run];
    if (gathered.tokens.empty()) continue;
    folders.push_back(folder + "/" + folder_name(trace.runs()[run], run));
    export_images(folders.back(), trace.runs()[run].config, gathered.positions, gathered.dimension,
                  gathered.tokens, gathered.labels);
    write_whole(folders.back() + "/samples.txt", gathered.samples);
  }
  return folders;
}

void export_images(const std::string& folder, const std::string& config, std::int64_t positions,
                   std::int64_t dimension, const std::vector<float>& tokens,
                   const std::vector<float>& labels) {
  make_folder(folder);
  const std::int64_t count = static_cast<std::int64_t>(tokens.size()) / (positions * dimension);
  write_npy(folder + "/tokens.npy", {count, positions, dimension}, tokens);
  if (static_cast<std::int64_t>(labels.size()) == count)
    write_npy(folder + "/labels.npy", {count}, labels);
  GreyLevels levels(config);
  if (!levels.told && !tokens.empty()) {
    const auto [low, high] = std::minmax_element(tokens.begin(), tokens.end());
    levels.black = *low, levels.white = *high > *low ? *high : *low + 1;
  }
  write_images(folder, levels, positions, dimension, tokens);
}

}  // namespace draftlab
