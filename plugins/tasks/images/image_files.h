// Reads files of small grey images: the IDX format of MNIST, plain or gzipped, and the
// comma-separated 8 x 8 digits of optdigits (UCI).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/tasks/images/labelled_image.h"

namespace draftlab {

// Pixels are intensities in [0, 1]. Both functions read the first `count` images (all, where there
// are fewer). They throw DataError naming the file, and the line or rule, when a file is missing,
// cut short, or not of its format.
std::vector<LabelledImage> read_idx(const std::string& images, const std::string& labels,
                                    std::int64_t count);
std::vector<LabelledImage> read_optdigits(const std::string& path, std::int64_t count);

}  // namespace draftlab
