// Writes a sweep as one HTML file that needs neither server nor network: the table of a report, its
// trade-offs, and every trajectory.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace draftlab {

struct PageOptions {
  // The page shows the trajectories of the first so many prompts.
  int prompts = 200;
};

// Returns the text of the file.
std::string html_page(const Frame& frame, const Report& report, const PageOptions& options = {});

// A column as the page carries it: base64 of little-endian unsigned integers as narrow as they fit
// ("u8", "u16", "u32").
struct PackedColumn {
  std::string type, data;
};
PackedColumn pack(const std::vector<std::int64_t>& values);
// A probability on the page's scale is round(-3000 ln p), 21.8 nats at most; 65534 stands for zero,
// and 65535 for not measured.
std::int64_t probability_code(double p);

}  // namespace draftlab
