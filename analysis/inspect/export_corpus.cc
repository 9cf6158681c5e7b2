#include "analysis/inspect/export_corpus.h"

#include <algorithm>
#include <map>

#include "analysis/inspect/samples_in_memory.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/trace/trace_file.h"

namespace draftlab {
namespace {

std::string line_of(const SampleRow& sample) {
  // The tokens by position; an edit replaces what stood there.
  std::map<std::int32_t, std::int32_t> tokens;
  for (const StepRow& step : sample.steps)
    for (const TokenRow& token : step.tokens)
      if (token.value.size() == 0) tokens[token.position] = token.token;
  std::string line;
  std::int64_t left = sample.valid + 1;  // The end-of-text token belongs to a text.
  for (const auto& [position, token] : tokens)
    if (left-- > 0) line += (line.empty() ? "" : " ") + std::to_string(token);
  return line;
}

}  // namespace

std::int64_t export_corpus(const std::string& path, const std::string& file) {
  const Trace trace(path);
  std::string text;
  for (std::int64_t first = 0; first < trace.samples(); first += kSamplesInMemory) {
    for (const SampleRow& sample :
         trace.read(first, std::min(kSamplesInMemory, trace.samples() - first))) {
      const std::string line = line_of(sample);
      if (!line.empty()) text += line + "\n";
    }
  }
  if (text.empty()) throw DataError("{} has no text of token ids", path);
  write_whole(file, text);
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace draftlab
