// Config section `report`: what a comparison of arms claims, declared before anything is decoded.
#pragma once

#include "core/options.h"

namespace draftlab {

struct ReportOptions {
  double margin_nll = 0.05;
  double margin_entropy = 0.1;
  void declare(OptionSet& set) {
    set.add("margin_nll", &margin_nll).in(1e-6, 10).help("Perplexities closer than this count as equal, in nats a token.");
    set.add("margin_entropy", &margin_entropy).in(1e-6, 10).help("Entropies closer than this count as equal, in bits.");
  }
};

}  // namespace draftlab
