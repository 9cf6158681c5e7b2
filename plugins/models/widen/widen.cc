#include "plugins/models/widen/widen.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/origin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {
namespace {

// The most parameters that are made in memory.
constexpr double kMost = 4e9;

}  // namespace

std::int64_t parameter_count(const std::string& text, const std::string& flag) {
  char* end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  if (unit == "k" || unit == "K")
    number *= 1e3;
  else if (unit == "M")
    number *= 1e6;
  else if (unit == "B" || unit == "G")
    number *= 1e9;
  else if (!unit.empty())
    number = std::nan("");
  if (end == text.c_str() || !(number >= 1) || !(number <= kMost))
    throw UsageError("{} {} must be a number of parameters from 1 to 4B, like 30M", flag, text);
  return std::llround(number);
}

Widened widen(const WidenJob& job) {
  namespace fs = std::filesystem;
  if (const Origin origin = read_origin(job.checkpoint); origin.parameters > 0)
    throw DataError(
        "{}/config.json: was widened already, from the checkpoint with digest {}; widen that one",
        job.checkpoint, origin.digest);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(job.out, error)) {
    if (entry.path().extension() != ".safetensors") continue;
    throw OutputError("'{}' holds {} already; name another folder", job.out,
                      entry.path().filename().string());
  }
  Widened widened;
  torch_function<decltype(draftlab_widen)>("draftlab_widen")(&job, &widened);
  return widened;
}

}  // namespace draftlab
