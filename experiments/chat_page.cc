#include "experiments/chat_page.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "core/base/table.h"
#include "experiments/story.h"

namespace draftlab {
namespace {

constexpr const char *kStruck = "\033[31;9m", *kFaint = "\033[2m";

// The piece of a token; a token that has no text is shown as its id.
StoryPiece spelled(const ChatView& view, Token token, const char* colour) {
  const std::string spelling = view.spell(token);
  StoryPiece piece = spelling.empty() ? StoryPiece{"<" + std::to_string(token) + ">", true, nullptr}
                                      : story_piece(spelling);
  piece.colour = colour;
  return piece;
}

// What the steps have left at each position.
struct Written {
  std::map<std::int32_t, TokenRow> tokens;
  // Of the last step, by position: the first draft that was rejected, and one that nobody judged.
  std::map<std::int32_t, Token> rejected, drafted;
};

Written written(const ChatState& state) {
  Written found;
  for (const StepRow& step : state.row.steps)
    for (const TokenRow& token : step.tokens) {
      if (token.source == static_cast<std::int32_t>(Source::taken_back))
        found.tokens.erase(token.position);
      else
        found.tokens[token.position] = token;
    }
  if (state.done || state.row.steps.empty()) return found;
  for (const DraftRow& draft : state.row.steps.back().drafts) {
    if (draft.accepted == 0)
      found.rejected.emplace(draft.position, draft.token);
    else if (draft.accepted < 0 && !found.tokens.contains(draft.position))
      found.drafted.emplace(draft.position, draft.token);
  }
  return found;
}

// The position behind the last one that has something to show.
std::int32_t end_of(const Written& found) {
  std::int32_t end = found.tokens.empty() ? 0 : found.tokens.rbegin()->first + 1;
  for (const auto* drafts : {&found.rejected, &found.drafted})
    if (!drafts->empty()) end = std::max(end, drafts->rbegin()->first + 1);
  return end;
}

// Keeps the last lines of a text, as many as there is room for.
std::string last_lines(const std::string& text, std::size_t most) {
  std::size_t begin = text.size();
  for (std::size_t lines = 0; lines < most; ++lines) {
    begin = begin == 0 ? std::string::npos : text.rfind('\n', begin - 1);
    if (begin == std::string::npos) return text;
  }
  return text.substr(begin + 1);
}

}  // namespace

std::string chat_text(const ChatState& state, const ChatView& view) {
  const Written found = written(state);
  const std::map<std::int32_t, Token> given(state.prompt.given.begin(), state.prompt.given.end());
  std::int32_t position = 0;
  while (given.contains(position)) ++position;
  std::vector<StoryPiece> pieces;
  for (const std::int32_t end = end_of(found); position < end; ++position) {
    if (const auto rejected = found.rejected.find(position); rejected != found.rejected.end())
      pieces.push_back(spelled(view, rejected->second, kStruck));
    if (const auto known = given.find(position); known != given.end())
      pieces.push_back(spelled(view, known->second, nullptr));
    else if (const auto token = found.tokens.find(position); token != found.tokens.end())
      pieces.push_back(spelled(view, token->second.token, colour_of(token->second)));
    else if (const auto drafted = found.drafted.find(position); drafted != found.drafted.end())
      pieces.push_back(spelled(view, drafted->second, kFaint));
    else
      pieces.push_back({"\u00b7", true, kFaint});
  }
  return wrapped(pieces, view.columns);
}

std::string chat_step(const SampleRow& row, const ChatView& view) {
  const StepRow& step = row.steps.back();
  std::map<std::int32_t, std::vector<StoryPiece>> at;
  std::set<std::int32_t> marked;
  const auto put = [&](std::int32_t position, Token token, const char* before, const char* behind) {
    StoryPiece piece = spelled(view, token, nullptr);
    piece.text = before + piece.text + behind;
    at[position].push_back(std::move(piece));
  };
  for (const DraftRow& draft : step.drafts)
    if (draft.accepted == 0 && marked.insert(draft.position).second)
      put(draft.position, draft.token, "[-", "-]");
  for (const TokenRow& token : step.tokens) {
    const bool replaces = token.source == static_cast<std::int32_t>(Source::resampled);
    put(token.position, token.token, replaces ? "{+" : "", replaces ? "+}" : "");
  }
  std::vector<StoryPiece> pieces;
  for (const auto& [position, those] : at) pieces.insert(pieces.end(), those.begin(), those.end());
  return "step " + std::to_string(step.step) + ": " + wrapped(pieces, static_cast<std::size_t>(-1));
}

std::string chat_status(const ChatState& state) {
  std::int64_t tokens = 0, drafter = 0;
  for (const StepRow& step : state.row.steps) {
    tokens += step.committed;
    drafter += step.drafter_counts.nfe();
  }
  const auto steps = static_cast<std::int64_t>(state.row.steps.size());
  const auto a = [&](std::int64_t of) {
    return of > 0 ? static_cast<double>(tokens) / static_cast<double>(of) : 0.0;
  };
  const std::string draft_model =
      drafter > 0 ? " and " + std::to_string(drafter) + " of the draft model" : "";
  return "step " + std::to_string(steps) + " | " + std::to_string(tokens) + " tokens | NFE " +
         std::to_string(state.nfe) + draft_model + " | " + fixed(a(steps), 1) +
         " tokens a step | " + fixed(a(state.nfe), 1) + " tokens a forward";
}

void ChatPage::show(const ChatState& state) {
  if (view_.rows == 0) {  // Nothing can be written over: a line a step, and all of it at the end.
    if (!state.done)
      out_ << chat_step(state.row, view_) << "\n";
    else
      out_ << chat_status(state) << "\n";
    out_.flush();
    return;
  }
  const std::size_t room = std::max<std::size_t>(view_.rows, 4) - 2;
  const std::string text = chat_text(state, view_);
  // The whole text stays on the screen at the end, and the last lines of it before.
  const std::string shown = state.done ? text : last_lines(text, room);
  if (lines_ > 0) out_ << "\033[" << lines_ << "A\r\033[J";
  out_ << shown << "\n" << kFaint << chat_status(state).substr(0, view_.columns) << kPlain << "\n";
  lines_ = static_cast<std::size_t>(std::count(shown.begin(), shown.end(), '\n')) + 2;
  out_.flush();
}

}  // namespace draftlab
