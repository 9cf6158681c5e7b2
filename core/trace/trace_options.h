// Config section `trace`: what a trace records, and how often it is written.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace draftlab {

class OptionSet;

// Which drafted positions are recorded: none, those that a chain judged, or all.
enum class RecordedDrafts { none, span, all };
constexpr std::array<std::string_view, 3> words(RecordedDrafts) { return {"none", "span", "all"}; }

struct TraceOptions {
  RecordedDrafts drafts = RecordedDrafts::all;
  // How many of the most probable tokens are recorded for each drafted position.
  std::int64_t top_k = 0;
  // Whether the most that any rule could accept is computed for each node that was judged.
  bool limits = false;
  // A unit of the trace is written after so many tokens or so many seconds, whichever comes first.
  std::int64_t unit_tokens = 50000;
  double unit_seconds = 30;
  void declare(OptionSet& set);
};

}  // namespace draftlab
