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

constexpr Rgb kPaper{255, 255, 255}, kAcceptedColour{0, 150, 60}, kReplacedColour{220, 40, 30},
    kBonusColour{40, 90, 220};

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
    case Source::accepted: return kAcceptedColour;
    case Source::resampled: return kReplacedColour;
    case Source::bonus: return kBonusColour;
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

// Draws images: a value becomes a square of `zoom` pixels.
struct ImageDrawer {
  Layout layout;
  GreyLevels levels;
  int zoom = 1;

  // Draws an image with its upper left corner at (x, y).
  void draw(const std::vector<Eigen::VectorXd>& tokens, int x, int y, Raster& raster) const {
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const auto [left, top] = corner(t);
      for (int v = 0; v < layout.patch * layout.patch; ++v)
        raster.fill(
            {x + left + v % layout.patch * zoom, y + top + v / layout.patch * zoom, zoom, zoom},
            levels.of(tokens[t][v]));
    }
  }
  // Outlines the tokens that have a mark.
  void outline(const std::vector<Rgb>& marks, int x, int y, Raster& raster) const {
    const int side = layout.patch * zoom;
    for (std::size_t t = 0; t < marks.size(); ++t) {
      if (marks[t] == kPaper) continue;
      const auto [left, top] = corner(t);
      raster.outline({x + left, y + top, side, side}, std::max(1, side / 16), marks[t]);
    }
  }
  int side() const { return layout.side() * zoom; }

 private:
  // The upper left corner of a token, from that of the image.
  std::pair<int, int> corner(std::size_t token) const {
    const int side = layout.patch * zoom, t = static_cast<int>(token);
    return {t % layout.across * side, t / layout.across * side};
  }
};

void write_images(const std::string& folder, const GreyLevels& levels, const ImageValues& images) {
  const ImageDrawer drawer{Layout(images.positions, images.dimension), levels};
  if (!drawer.layout.square()) return;
  make_folder(folder + "/images");
  std::vector<Eigen::VectorXd> image(static_cast<std::size_t>(images.positions));
  const float* at = images.tokens.data();
  for (std::int64_t i = 0; i < images.count(); ++i) {
    for (Eigen::VectorXd& token : image) {
      token = Eigen::Map<const Eigen::VectorXf>(at, images.dimension).cast<double>();
      at += images.dimension;
    }
    Raster raster(drawer.side(), drawer.side());
    drawer.draw(image, 0, 0, raster);
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

// A sheet of images: which decodes it shows, and where they stand.
class Sheet {
 public:
  Sheet(const Trace& trace, const SheetOptions& options) : trace_(trace), options_(options) {
    choose();
    read();
  }

  // Draws the sheet and writes it. Returns what stands where.
  std::string write(const std::string& path) const {
    const Layout layout(positions_, dimension_);
    if (!layout.square())
      throw DataError(
          "'{}' has {} tokens of {} values, which are no square image of square patches",
          trace_.path(), positions_, dimension_);
    GreyLevels levels(run(rows_.begin()->first).config);
    if (!levels.told) levels.black = low_, levels.white = high_ > low_ ? high_ : low_ + 1;
    const ImageDrawer drawer{layout, levels, std::max(1, 96 / layout.side())};
    const int count = static_cast<int>(keys_.size()), cell = drawer.side() + kGap;
    const int columns = alone() ? std::min(kAcross, count) : count,
              lines = alone() ? (count + columns - 1) / columns : static_cast<int>(rows_.size());
    Raster raster(columns * cell + kGap, lines * cell + kGap, kPaper);
    std::string legend =
        path + ": columns are prompts, from " + std::to_string(keys_.front().first) + " on";
    int line = 0;
    for (const auto& [index, of_run] : rows_) {
      const RunRow& row = run(index);
      legend += "\n  row " + std::to_string(line + 1) + (alone() ? " and on" : "") + ": " +
                (row.arm.empty() ? row.id : row.arm);
      for (int k = 0; k < count; ++k) {
        const auto found = images_.find({index, keys_[static_cast<std::size_t>(k)]});
        if (found == images_.end()) continue;
        const int x = kGap + k % columns * cell, y = kGap + (line + k / columns) * cell;
        drawer.draw(found->second.tokens, x, y, raster);
        if (options_.outlines) drawer.outline(found->second.marks, x, y, raster);
      }
      ++line;
    }
    write_png(path, raster);
    if (options_.outlines)
      legend +=
          "\n  outlined: green accepted, red replaced, blue bonus; the others are the target's own "
          "draws or were not verified";
    return legend + "\n  black is " + fixed(levels.black, 3) + ", white " + fixed(levels.white, 3) +
           "\n";
  }

 private:
  static constexpr int kAcross = 10, kGap = 6;
  // The key holds prompt and repeat.
  using Key = std::pair<std::int32_t, std::int32_t>;

  const RunRow& run(int index) const { return trace_.runs()[static_cast<std::size_t>(index)]; }
  // A single arm has several lines.
  bool alone() const { return rows_.size() == 1; }

  // Finds the samples that are shown.
  void choose() {
    std::set<Key> all;
    std::int64_t at = 0;
    for (const SampleRow& sample : trace_.read(false)) {
      const Key key{sample.prompt_index, sample.sample_index};
      if (options_.run < 0 || sample.run == options_.run)
        rows_[sample.run][key] = at, all.insert(key);
      ++at;
    }
    const std::int64_t wanted = options_.images > 0 ? options_.images
                                : alone()           ? 6 * kAcross
                                                    : kAcross;
    keys_.assign(all.begin(), all.end());
    keys_.erase(keys_.begin(),
                keys_.begin() + std::min<std::int64_t>(options_.first,
                                                       static_cast<std::int64_t>(keys_.size())));
    if (static_cast<std::int64_t>(keys_.size()) > wanted)
      keys_.resize(static_cast<std::size_t>(wanted));
    if (keys_.empty()) throw UsageError("'{}' has no such samples", trace_.path());
  }

  void read() {
    for (const auto& [index, of_run] : rows_) {
      for (const Key& key : keys_) {
        const auto found = of_run.find(key);
        if (found != of_run.end()) add({index, key}, image_of(trace_.sample(found->second)));
      }
    }
  }
  void add(const std::pair<int, Key>& key, DecodedImage image) {
    if (image.tokens.empty()) throw DataError("'{}' has no vector tokens to draw", trace_.path());
    if (positions_ == 0)
      positions_ = static_cast<std::int64_t>(image.tokens.size()),
      dimension_ = image.tokens.front().size();
    if (static_cast<std::int64_t>(image.tokens.size()) != positions_ ||
        image.tokens.front().size() != dimension_)
      throw DataError("'{}' holds images of several sizes; name one arm", trace_.path());
    for (const Eigen::VectorXd& token : image.tokens)
      low_ = std::min(low_, token.minCoeff()), high_ = std::max(high_, token.maxCoeff());
    images_.emplace(key, std::move(image));
  }

  const Trace& trace_;
  const SheetOptions& options_;
  // For each arm: the rows by key.
  std::map<int, std::map<Key, std::int64_t>> rows_;
  std::vector<Key> keys_;
  std::map<std::pair<int, Key>, DecodedImage> images_;
  std::int64_t positions_ = 0, dimension_ = 0;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

}  // namespace

std::string write_sheet(const Trace& trace, const std::string& path, const SheetOptions& options) {
  return Sheet(trace, options).write(path);
}

std::vector<std::string> export_images(const Trace& trace, const std::string& folder) {
  struct Gathered {
    ImageValues images;
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
      ImageValues& images = gathered.images;
      if (images.tokens.empty())
        images.positions = static_cast<std::int64_t>(image.tokens.size()),
        images.dimension = image.tokens.front().size();
      if (static_cast<std::int64_t>(image.tokens.size()) != images.positions)
        throw DataError("'{}' holds images of several sizes in one arm", trace.path());
      for (const Eigen::VectorXd& token : image.tokens)
        for (const double value : token) images.tokens.push_back(static_cast<float>(value));
      for (const auto& [name, value] : sample.scores)
        if (name == kImageLabel) images.labels.push_back(static_cast<float>(value));
      gathered.samples += sample.prompt_id + " " + std::to_string(sample.sample_index) + "\n";
    }
  }
  std::vector<std::string> folders;
  for (std::size_t run = 0; run < of_run.size(); ++run) {
    const Gathered& gathered = of_run[run];
    if (gathered.images.tokens.empty()) continue;
    folders.push_back(folder + "/" + folder_name(trace.runs()[run], run));
    export_images(folders.back(), trace.runs()[run].config, gathered.images);
    write_whole(folders.back() + "/samples.txt", gathered.samples);
  }
  return folders;
}

void export_images(const std::string& folder, const std::string& config,
                   const ImageValues& images) {
  make_folder(folder);
  const std::vector<float>& tokens = images.tokens;
  const std::int64_t count = images.count();
  write_npy(folder + "/tokens.npy", {count, images.positions, images.dimension}, tokens);
  if (static_cast<std::int64_t>(images.labels.size()) == count)
    write_npy(folder + "/labels.npy", {count}, images.labels);
  GreyLevels levels(config);
  if (!levels.told && !tokens.empty()) {
    const auto [low, high] = std::minmax_element(tokens.begin(), tokens.end());
    levels.black = *low, levels.white = *high > *low ? *high : *low + 1;
  }
  write_images(folder, levels, images);
}

}  // namespace draftlab
