// The table of certificates in Markdown: a row for each config, of what its decoders have in
// common. Outcomes that are walked have a total variation; laws that are sampled have statistics,
// and so a table of their own.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>

#include "experiments/certify/finding.h"

namespace draftlab {

// The least and the largest of a number.
struct Extent {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  void add(double x);
};

// A row, to which the decoders of one config are added.
class CertificateRow {
 public:
  void add(const CertificateFinding& found);
  // Prints the row of a config, below a head of its own unless the row before was of its kind.
  void print(std::ostream& out, const std::string& path, const CertificateRow* before) const;
  // What is the same in all rows of one table; "" before a decoder is added.
  const std::string& head() const { return head_; }

 private:
  std::string head_ = {}, claim_ = {};
  int cells_ = 0, hold_ = 0;
  Extent variation_ = {}, nfe_ = {};
  std::int64_t worst_ = 0;
  // Of laws that are sampled.
  Extent distance_ = {}, share_ = {}, acceptance_ = {}, tokens_per_step_ = {};
};

}  // namespace draftlab
