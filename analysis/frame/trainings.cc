#include "analysis/frame/trainings.h"

#include <algorithm>
#include <filesystem>

#include "core/trace/hdf5_columns.h"
#include "core/trace/schema.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

bool is_curves(const std::string& path) {
  return ColumnReader(path, ColumnReader::Trust::lazy).text("magic") == std::string(kCurvesMagic);
}

}  // namespace

const std::vector<TrainingMeasure>& training_measures() {
  static const std::vector<TrainingMeasure> all = {
      {.name = "loss", .title = "training loss", .unit = "nats a token", .curve = &CurveRow::loss},
      {.name = "validation",
       .title = "validation loss",
       .unit = "nats a token",
       .validation = &ValidationRow::loss},
      {.name = "perplexity",
       .title = "generative perplexity (judge)",
       .unit = "perplexity",
       .validation = &ValidationRow::perplexity,
       .logarithmic = true},
      {.name = "entropy",
       .title = "entropy of the generated text",
       .unit = "bits",
       .validation = &ValidationRow::entropy_bits},
      {.name = "nfe",
       .title = "function evaluations a token",
       .unit = "NFE a token",
       .validation = &ValidationRow::nfe_per_token},
      {.name = "rate", .title = "learning rate", .unit = "rate", .curve = &CurveRow::learning_rate},
  };
  return all;
}

std::vector<std::string> take_curves(std::vector<std::string>& paths) {
  std::vector<std::string> curves, rest;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      (is_curves(path) ? curves : rest).push_back(path);
      continue;
    }
    bool traces = false;
    std::vector<std::string> here;
    for (auto entry = fs::recursive_directory_iterator(path, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      const fs::path& file = entry->path();
      if (file.filename() == "curves.h5")
        here.push_back(file.string());
      else
        traces = traces || file.extension() == ".h5";
    }
    std::sort(here.begin(), here.end());
    curves.insert(curves.end(), here.begin(), here.end());
    if (traces || here.empty())
      rest.push_back(path);  // The frame refuses an empty folder in words.
  }
  paths = rest;
  return curves;
}

std::string training_name(const std::string& path) {
  return fs::absolute(path).parent_path().filename().string();
}

}  // namespace draftlab
