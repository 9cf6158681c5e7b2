#include "experiments/certify/reference_options.h"

#include <algorithm>
#include <string>

#include "core/config/config.h"
#include "core/config/options.h"

namespace draftlab {

void ReferenceOptions::declare(OptionSet& set) {
  set.add("law", &law)
      .help(
          "The law of texts: the target's own, token by token; masked diffusion's; or a "
          "cascade's.");
  set.add("temperature", &temperature)
      .in(-1, 100)
      .help("Temperature of the law; -1: decode.temperature.");
  set.add("ending", &ending)
      .help(
          "Whether a text ends at its first end-of-text token; decode: unless decode.stop = off.");
  set.add("order", &order)
      .help("Denoising: drafts are kept by their probability, or by a summary of their law.");
  set.add("threshold", &threshold)
      .in(0, 1)
      .help("Denoising: drafts more probable than this are kept, whatever the ranking says.");
  set.add("at_least", &at_least).in(1, 4096).help("Denoising: drafts that a step keeps at least.");
  set.add("at_most", &at_most)
      .in(0, 4096)
      .help("Denoising: drafts above the threshold that a step keeps at most; 0: all.");
  set.add("end_confidence", &end_confidence)
      .in(0, 1)
      .help("Denoising: what an end of text's probability is multiplied by in the ranking.");
  set.add("rule", &rule).help("Cascade: how target and draft model are mixed.");
  set.add("alpha", &alpha)
      .in(0, 100)
      .help("Cascade: how much worse than the target a draft may be.");
}

void refuse_parts(const Config& config) {
  Diagnostics diagnostics;
  for (const char* const section : {"reference", "sweep.reference"})
    for (const Config::Entry* const entry : config.section(section)) {
      const std::string key = entry->key.substr(std::string(section).size() + 1);
      OptionSet known;
      ReferenceOptions options;
      options.declare(known);
      const auto is = [&](const Option& option) { return option.name() == key; };
      if (std::any_of(known.options().begin(), known.options().end(), is)) continue;
      diagnostics.add(
          "{}: reference.{} = {} would let the reference share a part or an option with the "
          "decoder under test; a reference is a law, named by reference.law, and has no parts",
          entry->where, key, entry->value);
    }
  diagnostics.raise();
}

}  // namespace draftlab
