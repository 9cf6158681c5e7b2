// A sweep as one HTML file that needs neither server nor network: the table of a report, its
// trade-offs, and every trajectory.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace draftlab {

struct PageOptions {
  int prompts = 200;  // whose trajectories the page shows: the first of them
};

// The file's text.
std::string html_page(const Frame& frame, const Report& report, const PageOptions& options = {});

// A column as the page carries it: base64 of little-endian unsigned integers as narrow as they fit
// ("u8", "u16", "u32").
struct PackedColumn {
  std::string type, data;
};
PackedColumn pack(const std::vector<std::int64_t>& values);
// A probability on the page's scale: round(-3000 ln p), 21.8 nats at most; 65534 is zero, 65535 not
// measured.
std::int64_t probability_code(double p);

}  // namespace draftlab
