// Shows the decoded images of a trace: as a sheet of some of them, or as one file each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/trace_file.h"

namespace draftlab {

struct SheetOptions {
  // The first prompt, counted in the trace.
  std::int64_t first = 0;
  // The images of an arm; 0 takes ten a row, and six rows where there is one arm.
  std::int64_t images = 0;
  // Only this arm is shown; -1 shows all.
  int run = -1;
  bool outlines = true;
};

// Writes a sheet with a row an arm and a column a prompt, so that arms stand side by side on the
// same noise; a single arm has rows of ten. Tokens that a verifier accepted or replaced are
// outlined. Returns what stands where. Throws DataError when the trace has no vector tokens, or
// when they do not form a square image.
std::string write_sheet(const Trace& trace, const std::string& path, const SheetOptions& options);

// Writes what other programs score images from: for each arm a folder of PNG files (of square
// images), tokens.npy [N, positions, dimension], labels.npy [N] where the task recorded classes,
// and samples.txt, a line an image: prompt and repeat. Returns the folders.
std::vector<std::string> export_images(const Trace& trace, const std::string& folder);

// Images of one size: tokens [N, positions, dimension], and their classes [N], where they are
// known.
struct ImageValues {
  std::int64_t positions = 0, dimension = 0;
  std::vector<float> tokens, labels;
  std::int64_t count() const {
    return static_cast<std::int64_t>(tokens.size()) / (positions * dimension);
  }
};

// Does the same with images that no trace holds; `config` says how values become grey levels, as
// that of a run does.
void export_images(const std::string& folder, const std::string& config, const ImageValues& images);

}  // namespace draftlab
