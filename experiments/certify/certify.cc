// `draftlab certify CONFIG...` makes the certificate of each cell, side by side, and prints them in
// the order of the configs.
#include "experiments/certify/certify.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/copies.h"
#include "core/config/sweep_cells.h"
#include "experiments/arm/turns.h"
#include "experiments/certify/certificate.h"
#include "experiments/certify/certificate_table.h"
#include "experiments/certify/finding.h"

namespace draftlab {
namespace {

struct CertifyFlags {
  bool table = false;
  void declare(OptionSet& set) {
    set.add("table", &table)
        .help(
            "Print a table in Markdown, with a row for each config; laws that are sampled have one "
            "of "
            "their own.");
  }
};

// The decoders of one config.
struct Claims {
  std::string path;
  std::vector<ComposedArm> decoders;
};

std::vector<Claims> claims_of(const CommandLine& line, const Registries& registries) {
  std::vector<Claims> all;
  for (const std::string& path : line.paths) {
    Diagnostics diagnostics;
    const Config config = Config::read(path, line.overrides, diagnostics);
    diagnostics.raise();
    refuse_parts(config);
    Claims claims{path, {}};
    for (Cell& cell : expand_claims(config, registries, diagnostics)) {
      diagnostics.raise();
      Composition decoder = composition_of(cell, registries, diagnostics);
      claims.decoders.push_back({std::move(cell), std::move(decoder)});
    }
    diagnostics.raise();
    all.push_back(std::move(claims));
  }
  return all;
}

// How many certificates are made side by side: as many as every config allows. Each is then made
// with one thread.
int side_by_side(std::vector<Claims>& all) {
  int copies = workers_of(all.front().decoders);
  for (const Claims& claims : all) copies = std::min(copies, workers_of(claims.decoders));
  for (Claims& claims : all)
    for (ComposedArm& arm : claims.decoders)
      if (copies > 1) arm.composition.run.machine.threads = 1;
  return copies;
}

int certify(const CertifyFlags& flags, const CommandLine& line, const Registries& registries) {
  std::vector<Claims> all = claims_of(line, registries);
  const int copies = side_by_side(all);
  std::vector<std::pair<const Claims*, const ComposedArm*>> decoders;
  for (const Claims& claims : all)
    for (const ComposedArm& decoder : claims.decoders) decoders.emplace_back(&claims, &decoder);
  bool hold = true;
  std::size_t next = 0;
  CertificateRow row;
  std::optional<CertificateRow> before;
  in_order(
      copies, static_cast<std::int64_t>(decoders.size()),
      [&](std::int64_t number) {
        const auto& [claims, decoder] = decoders[static_cast<std::size_t>(number)];
        const std::string& label = decoder->cell.label;
        const std::string name = label.empty() ? claims->path : claims->path + " " + label;
        return to_bytes(finding_of(decoder->composition, name, registries));
      },
      [&](const std::string& bytes) {
        const CertificateFinding found = finding_from(bytes);
        hold &= found.holds;
        const Claims* const claims = decoders[next++].first;
        row.add(found);
        if (!flags.table) std::cout << found.text << std::flush;
        if (next < decoders.size() && decoders[next].first == claims) return;
        if (flags.table) row.print(std::cout, claims->path, before ? &*before : nullptr);
        before = std::exchange(row, {});
      });
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
