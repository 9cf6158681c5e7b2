// Writes the names of config keys, values and metrics as words that a reader of a paper
// understands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/metrics/metrics.h"

namespace draftlab {

// Writes "decode.block_size" as "block size", and "router.min-span.span" as "span". A key whose
// last part another of `keys` also has keeps the part before it: "score threshold".
std::string key_words(const std::string& key, const std::vector<std::string>& keys = {});
// Writes the value "min-span" of the key "router" as "min-span", a number or a switch with the
// key's words before it, "block size 4", and a value that is not there as "no block size".
std::string value_words(const std::string& key, const std::string& value,
                        const std::vector<std::string>& keys = {});
// The number that a value is, if it is one.
std::optional<double> number_of(const std::string& text);
// Writes "exact_match" as "exact match".
std::string title_words(const Metric& quantity);
// Names a factor against a baseline, such as "NFE, times fewer".
std::string factor_words(const Metric& quantity);

// What tells an arm, or a group of arms, from the others.
struct ArmName {
  std::string label;  // What the config calls it; empty where only values tell arms apart.
  std::vector<std::pair<std::string, std::string>> values = {};

  // Returns "two words decode.block_size=4".
  std::string text() const;
  // Returns the same without the sections of the keys, "two words block_size=4".
  std::string short_text() const;
};
ArmName arm_name(const Frame& frame, int arm);

}  // namespace draftlab
