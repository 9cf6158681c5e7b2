// The curves of a training. They have few rows, so the whole file is rewritten at every flush.
#pragma once

#include <string>
#include <vector>

#include "core/trace/rows.h"

namespace draftlab {

struct Curves {
  std::vector<CurveRow> steps;
  std::vector<ValidationRow> validations;
};

// Reads a file of curves. Throws DataError when the file holds none.
Curves read_curves(const std::string& path);

class CurveWriter {
 public:
  // With `resume` it goes on after what the file holds, where there is one; otherwise the file is
  // replaced at the first flush.
  CurveWriter(std::string path, Provenance provenance, bool resume = false);

  void add(const CurveRow& row) { curves_.steps.push_back(row); }
  void add(const ValidationRow& row) { curves_.validations.push_back(row); }
  // Forgets the rows after `step`, because training goes on from an older checkpoint.
  void forget_after(std::int64_t step);
  // Replaces the whole file. Throws OutputError when it cannot.
  void flush() const;
  const Curves& curves() const { return curves_; }

 private:
  std::string path_;
  Provenance provenance_;
  Curves curves_;
};

}  // namespace draftlab
