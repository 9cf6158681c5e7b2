#include "analysis/inspect/export_decisions.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/inspect/samples_in_memory.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/trace/trace_file.h"

namespace draftlab {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kAccepted = 1, kResampled = 2, kBonus = 3;  // The numbers of token_source.

// A probability with the digits that its column, of floats, has; null where it was not measured.
Json number_or_null(double value) {
  if (std::isnan(value)) return Json();
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, static_cast<float>(value));
  double shortest = 0;
  std::from_chars(text, end.ptr, shortest);
  return shortest;
}

// Whether the drafts of a step are one after another, each a token id.
bool is_chain(const StepRow& step) {
  for (std::size_t i = 0; i < step.drafts.size(); ++i) {
    const DraftRow& draft = step.drafts[i];
    if (draft.depth != static_cast<int>(i) || !std::isnan(draft.log_p)) return false;
  }
  return !step.drafts.empty() && step.drafted == static_cast<int>(step.drafts.size());
}

// Which rule the verdicts of a run follow: the ratio test of a plain chain, or another.
std::string rule_of(const RunRow& run) { return run.ratio_test ? "ratio" : "other"; }

Json decision(const SampleRow& sample, const StepRow& step, const std::string& rule) {
  Json line;
  line["sequence"] = std::to_string(sample.run) + "/" + sample.prompt_id + "/" +
                     std::to_string(sample.sample_index);
  line["step"] = step.step;
  line["rule"] = rule;
  for (const char* const key : {"drafts", "q", "p", "accept"}) line[key] = Json::array();
  for (const DraftRow& draft : step.drafts) {
    line["drafts"].push_back(draft.token);
    line["q"].push_back(number_or_null(draft.q));
    line["p"].push_back(number_or_null(draft.p));
    line["accept"].push_back(number_or_null(draft.accept));
  }
  line["accepted"] = step.accepted;
  line["tokens"] = Json::array();
  for (const TokenRow& token : step.tokens)
    if (token.source == kAccepted || token.source == kResampled || token.source == kBonus)
      line["tokens"].push_back(token.token);
  return line;
}

}  // namespace

ExportedDecisions export_decisions(const std::string& path, const std::string& file) {
  const Trace trace(path);
  if (trace.drafts() == "none")
    throw DataError("{} records no drafts: decode with trace.drafts = all", path);
  std::vector<std::string> rules;
  for (const RunRow& run : trace.runs()) rules.push_back(rule_of(run));
  const std::string partial = file + std::string(kPartial);
  std::ofstream out(partial, std::ios::binary);
  ExportedDecisions done;
  for (std::int64_t first = 0; first < trace.samples(); first += kSamplesInMemory) {
    for (const SampleRow& sample :
         trace.read(first, std::min(kSamplesInMemory, trace.samples() - first))) {
      for (const StepRow& step : sample.steps) {
        if (step.verified == 0) continue;
        if (!is_chain(step)) {
          ++done.left_out;
          continue;
        }
        out << decision(sample, step, rules.at(static_cast<std::size_t>(sample.run))) << "\n";
        ++done.written;
      }
    }
  }
  out.close();
  if (!out || std::rename(partial.c_str(), file.c_str()) != 0)
    throw OutputError("cannot write '{}'", file);
  return done;
}

}  // namespace draftlab
