// `draftlab chat CONFIG` decodes behind what is typed, and shows the tokens as they come.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/base/stop_request.h"
#include "core/config/config.h"
#include "core/loop/choice.h"
#include "core/prob/chance.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/arm/shown_arm.h"
#include "experiments/chat_page.h"
#include "experiments/commands.h"
#include "experiments/terminal.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/benchmarks/question_files.h"

namespace draftlab {
namespace {

struct ChatFlags {
  std::string prompt, system;
  std::int64_t tokens = 64, question = -1;
  Chat format = Chat::plain;
  void declare(OptionSet& set) {
    set.add("prompt", &prompt).help("Continues this text instead of reading one.");
    set.add("tokens", &tokens).in(1, 1 << 20).help("How many tokens are decoded at most.");
    set.add("format", &format)
        .help(
            "How turns are marked: plain continues each text as it stands; with the others the "
            "model reads the turns before, too.");
    set.add("system", &system).help("With another format than plain: the system's turn.");
    set.add("question", &question)
        .in(-1, 1e9)
        .help("Decodes this prompt of the config's task, and reads no text.");
  }
};

// Decodes with one arm, one text after another, and shows each as it grows.
class Conversation {
 public:
  Conversation(const LoadedArm& arm, const ChatFlags& flags) : arm_(arm), flags_(flags) {
    options_.chat = flags.format;
    options_.system = flags.system;
    options_.turn = "{question}";
    if (!terminal_has_colours()) return;
    view_.columns = terminal_columns();
    view_.rows = terminal_rows();
  }

  void say(const std::string& text) {
    const Tokenizer& tokenizer = *arm_.tokenizer;
    Prompt prompt = question_prompt({"chat", prompt_text(options_, tokenizer, turns_, text), ""},
                                    {flags_.tokens, true}, tokenizer);
    prompt.reference.clear();  // Nobody knows what stood there.
    const std::string answer = decode(prompt);
    if (view_.rows == 0) std::cout << answer << std::endl;
    if (flags_.format != Chat::plain) turns_.push_back({text, answer});
  }

  void answer(std::int64_t question) {
    if (question >= arm_.task->size())
      throw UsageError("--question {} is beyond the {} prompts of the config's task", question,
                       arm_.task->size());
    const Prompt prompt = arm_.task->prompt(static_cast<int>(question));
    const std::string text = decode(prompt);
    if (view_.rows == 0) std::cout << text << std::endl;
  }

 private:
  // Returns the decoded text.
  std::string decode(const Prompt& prompt) {
    view_.spell = [this](Token token) { return piece_of(arm_.tokenizer.get(), token); };
    ChatPage page(std::cout, view_);
    SampledChance chance(static_cast<std::uint64_t>(arm_.composition.run.seed));
    // A text that is said twice is another sample of the same prompt.
    const std::uint64_t sequence = stable_hash(prompt.id + "/" + std::to_string(samples_++));
    const std::unique_ptr<Session> session =
        session_of(arm_.composition, arm_.models, prompt, {chance, sequence});
    const StopOnSignals stopping;
    Asking<SampleRow> work = session->decode();
    work.start();
    Session* const alone[] = {session.get()};
    std::size_t shown = 0;
    while (!work.done()) {
      answer_pending(arm_.models, alone);
      if (work.done() || session->row().steps.size() == shown) continue;
      shown = session->row().steps.size();
      page.show({session->row(), prompt, session->nfe(), false});
    }
    const SampleRow row = work.take();
    if (view_.rows == 0 && shown < row.steps.size())
      page.show({row, prompt, session->nfe(), false});
    page.show({row, prompt, session->nfe(), true});
    if (!arm_.tokenizer) return "";
    return answer_text(*arm_.tokenizer, prompt, session->canvas());
  }

  const LoadedArm& arm_;
  const ChatFlags& flags_;
  QuestionFileOptions options_;
  ChatView view_;
  std::vector<Turn> turns_;
  int samples_ = 0;
};

int chat(const ChatFlags& flags, const CommandLine& line, const Registries& registries) {
  Diagnostics diagnostics;
  const Config config = Config::read(line.paths[0], line.overrides, diagnostics);
  diagnostics.raise();
  if (flags.question >= 0 && !flags.prompt.empty())
    throw UsageError("--question and --prompt each say what is decoded; give one of them");
  if (!flags.system.empty() && flags.format == Chat::plain)
    throw UsageError("--system is a turn, and --format plain marks none; choose another format");
  std::vector<ComposedArm> arms = compose_arms(config, registries);
  ComposedArm& shown = arms[shown_arm(arms)];
  const LoadedArm arm = ModelCache().arm(std::move(shown.cell), std::move(shown.composition));
  Conversation conversation(arm, flags);
  if (flags.question >= 0) {
    conversation.answer(flags.question);
    return 0;
  }
  if (!arm.tokenizer)
    throw ConfigError(
        "{}: its model has no tokenizer, so it reads no text; --question N decodes "
        "a prompt of its task",
        line.paths[0]);
  if (!flags.prompt.empty()) {
    conversation.say(flags.prompt);
    return 0;
  }
  const bool asks = isatty(STDIN_FILENO) != 0;
  for (std::string text;
       (asks ? std::cout << "> " << std::flush : std::cout), std::getline(std::cin, text);)
    if (!text.empty()) conversation.say(text);
  return 0;
}

}  // namespace

Command chat_command() {
  return {
      .name = "chat",
      .arguments = "CONFIG",
      .summary =
          "continue what is typed; drafted, accepted and replaced tokens in colour as they come",
      .takes_config = true,
      .flags = with_flags(chat)};
}

}  // namespace draftlab
