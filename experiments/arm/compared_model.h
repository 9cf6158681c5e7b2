// Asks several ways of computing one model what a decode asks of it, and compares their answers
// with those of a forward that answers one question, on one thread. The answers of a model of
// vectors are conditions and the laws of reverse steps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/words.h"
#include "core/model/model.h"

namespace draftlab {

// One way of computing a model's answers.
struct Way {
  std::string name;
  std::shared_ptr<Model> model;
  int threads = 1;
  // Whether each asked row has a forward of its own.
  bool alone = false;
  // How many sequences of one text share a forward.
  int sequences = 1;
  // Whether the model says that its answers are those of the reference to the last bit.
  bool promised = false;
};

// Why a row has another most probable token than its reference.
//   - tie: the reference's two tokens are equal up to the last digits of single precision.
//   - rounding: the laws are as near as the arithmetic explains (explained_by_rounding).
//   - fault: they are not, or the model had promised equal bits.
enum class Cause : std::uint8_t { tie, rounding, fault };
constexpr std::array<std::string_view, 3> words(Cause) { return {"tie", "rounding", "fault"}; }

// A row whose most probable token is another one.
struct OtherChoice {
  std::string prompt = {};
  std::int32_t position = 0;
  Token reference = kNoToken, token = kNoToken;
  // log p(reference) - log p(token) in the reference's law, and in the other.
  double margin = 0, other_margin = 0;
  Cause cause = Cause::rounding;
};

// What the rows of one way have shown so far.
struct Agreement {
  std::int64_t rows = 0, same_bits = 0;
  // Rows that differ by more than rounding explains, or at all where equal bits are promised.
  std::int64_t faults = 0;
  // Rows whose most probable token is another one, by cause.
  std::array<std::int64_t, words(Cause{}).size()> other_choices{};
  // The largest total variation, and the largest change of the log probability of the reference's
  // most probable token. Of a law of vectors it is a bound on the total variation (Pinsker's), of a
  // condition the largest change in proportion to its largest number.
  double variation = 0, log_probability = 0;
  // The first other choice that was met.
  std::optional<OtherChoice> first = {};
};

// What a decode has shown: the prompt that is decoded, which others set, and an entry a way.
struct Comparison {
  std::string prompt;
  std::vector<Agreement> ways;
};

// Two laws of one row.
struct TwoLaws {
  std::int32_t position;
  const Distribution& reference;
  const Distribution& other;
};

// Adds a row to what is known of a way. `explained` is the largest total variation that rounding
// explains; 0 says that any difference is a fault.
void add_row(Agreement& agreement, const TwoLaws& row, double explained, const std::string& prompt);

// The largest distance that rounding explains, given the unit roundoff of the coarser of two ways.
double explained_difference(double unit);

// Return how far two conditions, or two laws of a reverse step, are apart.
double distance(const Eigen::VectorXd& reference, const Eigen::VectorXd& other);
double distance(const Mixture& reference, const Mixture& other);

// Returns a model that answers as `reference` does, a question at a time and on one thread, and
// asks all ways the same. What they answer is added to `comparison`, which has an entry for each.
std::shared_ptr<Model> compared(std::shared_ptr<Model> reference, std::vector<Way> ways,
                                std::shared_ptr<Comparison> comparison);

}  // namespace draftlab
