// Config section `trace`: what a trace records, and how often it is written.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/loop/recording.h"

namespace draftlab {

class OptionSet;

// Which drafted positions are recorded: none, those that a chain judged, or all.
enum class RecordedDrafts { none, span, all };
constexpr std::array<std::string_view, 3> words(RecordedDrafts) { return {"none", "span", "all"}; }
// The attribute `prompts` of a trace that holds the tokens of its prompts.
inline constexpr std::string_view kAllPrompts = "all";

struct TraceOptions : Recording {
  // Whether the tokens of prompts are recorded.
  bool prompts = true;
  RecordedDrafts drafts = RecordedDrafts::all;
  // A unit of the trace is written after so many tokens or so many seconds, whichever comes first.
  std::int64_t unit_tokens = 50000;
  double unit_seconds = 30;
  void declare(OptionSet& set);
};

}  // namespace draftlab
