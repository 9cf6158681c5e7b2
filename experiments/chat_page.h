// What is shown of a sequence while it is decoded.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "core/loop/rows.h"
#include "core/parts/task.h"

namespace draftlab {

// How tokens are spelled, and how much fits; `rows` = 0 says that nothing can be written over.
struct ChatView {
  std::function<std::string(Token)> spell;
  std::size_t columns = 80, rows = 0;
};

// What is known of a sequence: its steps so far, and function evaluations of the target.
struct ChatState {
  const SampleRow& row;
  const Prompt& prompt;
  std::int64_t nfe = 0;
  // Whether this is the end: the drafts of the last step are shown no more.
  bool done = false;
};

// Returns the text from the first open position on, in lines of the view's columns: accepted drafts
// green, replacements red, other tokens and what was given behind open positions plain. Of the last
// step rejected drafts are struck out before what replaced them, and drafts that nobody judged are
// faint. Open positions before a later token are dots.
std::string chat_text(const ChatState& state, const ChatView& view);

// Returns one line on the last step for a file or a pipe: accepted drafts and other tokens as they
// are, [-rejected drafts-] and {+replacements+}.
std::string chat_step(const SampleRow& row, const ChatView& view);

// Returns "step 3 | 9 tokens | NFE 4 | 3.0 tokens a step | 2.2 tokens a forward".
std::string chat_status(const ChatState& state);

// Writes the page of a sequence, and writes over it as the sequence grows where the view has rows.
class ChatPage {
 public:
  // `out` outlives the page.
  ChatPage(std::ostream& out, ChatView view) : out_(out), view_(std::move(view)) {}
  void show(const ChatState& state);

 private:
  std::ostream& out_;
  ChatView view_;
  // The lines of the page that stand on the terminal.
  std::size_t lines_ = 0;
};

}  // namespace draftlab
