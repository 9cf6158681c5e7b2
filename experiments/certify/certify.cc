#include "experiments/certify/certify.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "core/base/words.h"
#include "core/config/sweep_cells.h"
#include "experiments/certify/certificate.h"
#include "experiments/certify/vector_certificate.h"

namespace draftlab {
namespace {

std::string text(const char* format, double number) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, number);
  return buffer;
}

struct CertifyFlags {
  bool table = false;
  void declare(OptionSet& set) {
    set.add("table", &table).help("Print a table in Markdown, with a row for each config.");
  }
};

// What the certificates of one config have in common: a row of the table.
struct Row {
  std::string claim;
  int cells = 0, hold = 0;
  // The least and the largest total variation, expected evaluations, and the worst case of any.
  double least = 1, largest = 0, fewest = 1e300, most = 0;
  std::int64_t worst = 0;

  void add(const std::string& what, bool holds, double variation, double nfe) {
    claim = what;
    ++cells;
    hold += holds;
    least = std::min(least, variation), largest = std::max(largest, variation);
    fewest = std::min(fewest, nfe), most = std::max(most, nfe);
  }
};

std::string range(const char* format, double least, double most) {
  const std::string low = text(format, least), high = text(format, most);
  return low == high ? low : low + " to " + high;
}

void print(const Row& row, const std::string& path) {
  std::cout << "| `" << path << "` | " << row.claim << " | " << row.hold << " of " << row.cells
            << " | " << range("%.2g", row.least, row.largest) << " | "
            << range("%.3f", row.fewest, row.most) << " | "
            << (row.worst > 0 ? std::to_string(row.worst) : "") << " |\n";
}

// Makes the certificate of a decoder of vectors, whose reference is the target itself, and prints
// it unless `quiet` says that the row is all that is wanted. Returns whether its claims hold.
bool certify_vectors(const Composition& decoder, const std::string& name, bool quiet, Row& row) {
  const CertifyOptions& claim = decoder.section<CertifyOptions>();
  const auto began = std::chrono::steady_clock::now();
  Loaded loaded;
  const VectorCertificate certificate =
      certify_vectors(decoder, certified_prompt(decoder, name), loaded);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const bool holds =
      certificate.lossless() == (claim.expect != Claim::lossy) && certificate.claims_hold();
  row.add(std::string(word(claim.expect)) + " | sampled", holds, 0, certificate.nfe);
  if (quiet) return holds;
  std::cout << name << ": " << (holds ? "holds" : "DOES NOT HOLD") << " (" << word(claim.expect)
            << ": " << (claim.expect == Claim::lossy ? "some" : "no")
            << " check of the law is beyond its critical value; alpha " << text("%.3g", claim.alpha)
            << " over all)\n"
            << to_text(certificate) << "  seconds " << text("%.2f", seconds) << "\n";
  return holds;
}

const char* verdict(bool holds) { return holds ? "" : "; it is not"; }

// The rule and the arithmetic are told apart: the first is judged, the second is measured.
void print_law(const Certificate& made) {
  const CertifyOptions& claim = made.claim;
  const bool lossy = claim.expect == Claim::lossy;
  std::cout << "\n  rule             total variation " << text("%.3g", made.variation)
            << " from the " << word(made.law.law) << " law (" << word(claim.expect)
            << (lossy ? ": above " : ": at most ")
            << text("%.3g", lossy ? claim.visible : claim.tolerance) << verdict(made.exact())
            << ")\n  arithmetic       ";
  const Arithmetic& arithmetic = made.arithmetic;
  if (arithmetic.largest == 0) {
    std::cout << "a question that was asked again had the same answer, to the last bit";
    return;
  }
  std::cout << "answers to one question differ by up to " << text("%.2g", arithmetic.largest)
            << " (unit roundoff " << text("%.2g", arithmetic.unit) << "; up to "
            << text("%.2g", arithmetic.bound())
            << " is rounding), which moves the law of a text by up to "
            << text("%.2g", made.unknown * arithmetic.largest);
}

void print(const Certificate& made, const std::string& name, double seconds) {
  const Outcomes& outcomes = made.outcomes;
  const CertifyOptions& claim = made.claim;
  std::cout << name << ": " << (made.holds() ? "holds" : "DOES NOT HOLD");
  print_law(made);
  std::cout << "\n  NFE              expected " << text("%.4f", outcomes.expected_nfe)
            << ", worst case " << outcomes.worst_nfe;
  if (claim.worst_nfe > 0)
    std::cout << " (claimed: at most " << claim.worst_nfe << verdict(made.fast()) << ")";
  std::cout << "\n  first step       " << text("%.12g", outcomes.first_step) << " tokens";
  if (claim.first_step > 0)
    std::cout << " (claimed: " << text("%.12g", claim.first_step) << verdict(made.committed())
              << ")";
  std::cout << "\n  outcomes         " << outcomes.walked << " walked, " << outcomes.merged
            << " merged (" << outcomes.compared << " of them run on, alike), mass dropped "
            << text("%.2g", outcomes.dropped) << "\n  reference        "
            << made.reference.probability.size() << " texts, the model asked about "
            << made.reference.asked << " states\n  seconds          " << text("%.2f", seconds)
            << "\n";
}

// Makes the certificate of a decoder of tokens likewise.
bool certify_tokens(const Composition& decoder, const std::string& name, bool quiet, Row& row) {
  const auto began = std::chrono::steady_clock::now();
  const Certificate made = certificate_of(decoder, name);
  row.add(std::string(word(made.claim.expect)) + " | " + std::string(word(made.law.law)),
          made.holds(), made.variation, made.outcomes.expected_nfe);
  row.worst = std::max(row.worst, made.outcomes.worst_nfe);
  if (!quiet)
    print(made, name,
          std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  return made.holds();
}

int certify(const CertifyFlags& flags, const CommandLine& line, const Registries& registries) {
  bool hold = true;
  if (flags.table)
    std::cout << "| config | claim | law | hold | total variation | E[NFE] | worst NFE |\n"
                 "|---|---|---|---|---|---|---|\n";
  for (const std::string& path : line.paths) {
    Faults faults;
    const Config config = Config::read(path, line.overrides, faults);
    faults.raise();
    refuse_parts(config);
    const std::vector<Cell> cells = expand_claims(config, registries, faults);
    faults.raise();
    Row row;
    for (const Cell& cell : cells) {
      const Composition decoder = composition_of(cell, registries, faults);
      faults.raise();
      const std::vector<Form>& forms = registries.models.find(decoder.models.at("").name)->forms;
      const bool vectors = std::count(forms.begin(), forms.end(), Form::reverse) > 0;
      const std::string name = cell.label.empty() ? path : path + " " + cell.label;
      hold &= vectors ? certify_vectors(decoder, name, flags.table, row)
                      : certify_tokens(decoder, name, flags.table, row);
    }
    if (flags.table) print(row, path);
  }
  return hold ? 0 : 1;
}

}  // namespace

Command certify_command() {
  return {.name = "certify",
          .arguments = "CONFIG...",
          .summary =
              "the exact output distribution against its reference, expected and worst-case cost",
          .most = kAnyNumber,
          .takes_config = true,
          .flags = with_flags(certify)};
}

}  // namespace draftlab
