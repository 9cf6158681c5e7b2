// Config section `report`: what a comparison of arms claims, declared before anything is decoded.
#pragma once

#include <string>

#include "core/config/options.h"

namespace draftlab {

struct ReportOptions {
  double margin_nll = 0.05;
  double margin_entropy = 0.1;
  double margin_score = 0.03;
  double margin_bleu = 1;
  double margin_frechet = 0.2, margin_class_score = 0.2, margin_energy = 0.02;
  std::string errors;  // The scores that are errors.
  std::string choose;  // The metric by which an arm is chosen before it is reported.
  std::int64_t tune_prompts = 0;
  void declare(OptionSet& set) {
    set.add("margin_nll", &margin_nll)
        .in(1e-6, 10)
        .help("Perplexities closer than this count as equal, in nats a token.");
    set.add("margin_entropy", &margin_entropy)
        .in(1e-6, 10)
        .help("Entropies closer than this count as equal, in bits.");
    set.add("margin_score", &margin_score)
        .in(1e-6, 1e6)
        .help("Task scores closer than this count as equal.");
    set.add("margin_bleu", &margin_bleu)
        .in(1e-6, 100)
        .help("Corpus BLEUs closer than this count as equal, in points of 100.");
    set.add("margin_frechet", &margin_frechet)
        .in(1e-6, 1e6)
        .help("Frechet distances of images closer than this count as equal.");
    set.add("margin_class_score", &margin_class_score)
        .in(1e-6, 1e6)
        .help("Inception-style scores closer than this count as equal.");
    set.add("margin_energy", &margin_energy)
        .in(1e-6, 1e6)
        .help("Energy distances of images closer than this count as equal.");
    set.add("errors", &errors)
        .help("Task scores that are errors, separated by commas: the lower, the better.");
    set.add("choose", &choose)
        .help(
            "Metric by which one arm of each group is chosen on the tuning prompts; empty: none is "
            "chosen.");
    set.add("tune_prompts", &tune_prompts)
        .in(0, 1e9)
        .help("Number of leading prompts used to choose an arm; the rest are reported.");
  }
};

}  // namespace draftlab
