// The notes below a table: how many prompts it rests on, how its rows were compared, and what its
// numbers leave out.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/metrics/metrics.h"
#include "analysis/report/report.h"

namespace draftlab {

// What is known of a group's samples besides their numbers.
struct SampleOrigin {
  std::set<int> files, prompts;
  int samples = 0;
};

// The keys beside those of the table in which groups equal their baselines, and in which they
// differ from them.
struct PairingKeys {
  std::vector<std::string> matched, apart;
};

// What the notes are written from. There is one origin a group of the report.
struct Noted {
  const Frame& frame;
  const Metrics& quantities;
  const std::vector<SampleOrigin>& origin;
  const PairingKeys& keys;
  double confidence;
  Family family;
};

// Adds the notes to the report: those on prompts and pairs first, the others behind what it has.
void add_notes(const Noted& noted, Report& report);

}  // namespace draftlab
