#include "experiments/certify/certificate_table.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

namespace draftlab {
namespace {

constexpr const char* kWalked =
    "| config | claim | law | hold | total variation | E[NFE] | worst NFE |\n"
    "|---|---|---|---|---|---|---|\n";
// D is the largest Kolmogorov-Smirnov distance of an innovation from the normal law.
constexpr const char* kSampled =
    "| config | claim | law | hold | D | largest statistic, of its critical value | acceptance | "
    "tokens/step | E[NFE] |\n"
    "|---|---|---|---|---|---|---|---|---|\n";

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// What rounding makes differs from processor to processor, and tables are the same on each.
constexpr double kMadeByRounding = 1e-14;
std::string variation(double value) {
  return value < kMadeByRounding ? "< " + number("%.0e", kMadeByRounding) : number("%.2g", value);
}

std::string to_text(const Extent& range, std::string (*text)(double)) {
  const std::string least = text(range.least), largest = text(range.largest);
  return least == largest ? least : least + " to " + largest;
}

std::string two_digits(double value) { return number("%.2g", value); }
std::string two_places(double value) { return number("%.2f", value); }
std::string three_places(double value) { return number("%.3f", value); }

}  // namespace

void Extent::add(double x) {
  least = std::min(least, x);
  largest = std::max(largest, x);
}

void CertificateRow::add(const CertificateFinding& found) {
  head_ = found.sampled ? kSampled : kWalked;
  claim_ = found.claim;
  ++cells_;
  hold_ += found.holds;
  variation_.add(found.variation);
  nfe_.add(found.nfe);
  worst_ = std::max(worst_, found.worst);
  if (!found.sampled) return;
  distance_.add(found.sampled->distance);
  share_.add(found.sampled->share_of_critical);
  acceptance_.add(found.sampled->acceptance);
  tokens_per_step_.add(found.sampled->tokens_per_step);
}

void CertificateRow::print(std::ostream& out, const std::string& path,
                           const CertificateRow* before) const {
  if (!before || before->head_ != head_) out << (before ? "\n" : "") << head_;
  out << "| `" << path << "` | " << claim_ << " | " << hold_ << " of " << cells_ << " | ";
  if (head_ == kWalked) {
    out << to_text(variation_, variation) << " | " << to_text(nfe_, three_places) << " | "
        << (worst_ > 0 ? std::to_string(worst_) : "") << " |\n";
    return;
  }
  out << to_text(distance_, two_digits) << " | " << to_text(share_, two_digits) << " | "
      << to_text(acceptance_, three_places) << " | " << to_text(tokens_per_step_, two_places)
      << " | " << to_text(nfe_, three_places) << " |\n";
}

}  // namespace draftlab
