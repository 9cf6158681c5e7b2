#include "experiments/inspect.h"

#include <charconv>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "analysis/inspect.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {

int inspect(const CommandLine& line, const Registries&) {
  const Trace trace(line.paths[0]);
  InspectOptions options;
  options.ascii = line.has("ascii") || !terminal_shows_utf8();
  if (line.has("steps")) read_steps(line.flag("steps"), options);
  std::int64_t sample = 0;
  const std::string text = line.flag("sample", "0");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sample);
  if (error != std::errc{} || end != text.data() + text.size() || sample < 0) throw UsageError("--sample " + text + " must be a row number, from 0");

  // Tokens are shown as text where the checkpoint that decoded them still lies where it lay.
  std::map<std::string, std::shared_ptr<Tokenizer>> tokenizers;
  for (const RunRow& run : trace.runs()) {
    if (std::filesystem::exists(run.checkpoint + "/spiece.model")) tokenizers[run.checkpoint] = open_tokenizer(run.checkpoint);
  }
  if (!tokenizers.empty()) {
    options.piece = [&](int run, Token token) {
      const auto tokenizer = tokenizers.find(trace.runs()[run].checkpoint);
      return tokenizer == tokenizers.end() ? std::to_string(token) : tokenizer->second->piece(token);
    };
  }
  std::cout << inspect(trace, sample, options);
  return 0;
}

}  // namespace draftlab
