// `draftlab widen` makes a checkpoint that computes the function of a small one at the dense cost
// of a large one: wider rows, more heads, a wider feed-forward network, and layers that change
// nothing.
#pragma once

#include <cstdint>
#include <string>

namespace draftlab {

struct WidenJob {
  // The folder of the checkpoint, and the folder to write.
  std::string checkpoint, out;
  // The parameters that are wanted.
  std::int64_t parameters = 0;
};

struct Widened {
  // The parameters of the original and of what was written.
  std::int64_t before = 0, parameters = 0;
  // Rows, heads and the networks' inner rows are so many times as wide: a power of two.
  std::int64_t copies = 1;
  // The layers that were appended.
  std::int64_t layers = 0;
  // The inner width of the feed-forward networks.
  std::int64_t inner = 0;
  // Whether the function is the same to the last bit, or to rounding.
  bool exact = false;
};

// Parses "30M", "1.6e6" or "500k". Throws UsageError that names `flag`.
std::int64_t parameter_count(const std::string& text, const std::string& flag);

// Throws DataError where the checkpoint cannot be widened, UsageError where it has as many
// parameters already, and OutputError where `out` holds a checkpoint.
Widened widen(const WidenJob& job);

}  // namespace draftlab

// The torch module exports this function, which does the work.
extern "C" void draftlab_widen(const draftlab::WidenJob* job, draftlab::Widened* widened);
