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

struct TraceOptions : Recording {
  RecordedDrafts drafts = RecordedDrafts::all;
  // A unit of the trace is written after so many tokens or so many seconds, whichever comes first.
  std::int64_t unit_tokens = 50000;
  double unit_seconds = 30;
  void declare(OptionSet& set);
};

}  // namespace draftlab
