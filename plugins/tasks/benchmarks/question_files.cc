#include "plugins/tasks/benchmarks/question_files.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/base/json_lines.h"
#include "plugins/tasks/benchmarks/python_shuffle.h"

namespace draftlab {
namespace {

std::string without_annotations(std::string text) {
  for (std::size_t at; (at = text.find("<<")) != std::string::npos;) {
    const std::size_t end = text.find(">>", at);
    if (end == std::string::npos) break;
    text.erase(at, end + 2 - at);
  }
  return text;
}

// Reads a text of a config, in which \\n is a line end.
std::string with_lines(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at)
    text.replace(at, 2, "\n");
  return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  if (const std::size_t at = text.find(what); at != std::string::npos)
    text.replace(at, what.size(), by);
  return text;
}

bool is_token(const Tokenizer& tokenizer, const std::string& text) {
  return tokenizer.encode(text).size() == 1;
}

Chat markup_of(const Tokenizer& tokenizer) {
  return is_token(tokenizer, "<|im_start|>")          ? Chat::chatml
         : is_token(tokenizer, "<|start_header_id|>") ? Chat::headers
         : is_token(tokenizer, "<role>")              ? Chat::roles
                                                      : Chat::plain;
}

// Writes how one speaker's turn is marked. With a null `what` only its beginning is written.
std::string marked(Chat markup, const std::string& who, const std::string* what) {
  if (markup == Chat::chatml)
    return "<|im_start|>" + who + "\n" + (what ? *what + "<|im_end|>\n" : "");
  if (markup == Chat::headers)
    return "<|start_header_id|>" + who + "<|end_header_id|>\n\n" +
           (what ? *what + "<|eot_id|>" : "");
  const std::string role = who == "user" ? "HUMAN" : who == "assistant" ? "ASSISTANT" : "SYSTEM";
  return "<role>" + role + "</role>" + (what ? *what + "<|role_end|>" : "");
}

}  // namespace

std::vector<FileQuestion> parse_gsm8k(const std::string& text, const std::string& name) {
  std::vector<FileQuestion> questions;
  for (const JsonObject& object : json_objects(text, name))
    questions.push_back({std::to_string(questions.size()),
                         object.text("question"),
                         without_annotations(object.text("answer")),
                         {},
                         {}});
  return questions;
}

std::vector<FileQuestion> parse_math(const std::string& text, const std::string& name) {
  std::vector<FileQuestion> questions;
  for (const JsonObject& object : json_objects(text, name))
    questions.push_back({std::to_string(questions.size()),
                         object.text("problem"),
                         object.text("solution"),
                         {},
                         {},
                         {},
                         object.has("type")      ? object.text("type")
                         : object.has("subject") ? object.text("subject")
                                                 : ""});
  return questions;
}

std::vector<FileQuestion> parse_mbpp(const std::string& text, const std::string& name) {
  std::vector<FileQuestion> questions;
  for (const JsonObject& object : json_objects(text, name)) {
    FileQuestion question{std::to_string(object.number("task_id")),
                          object.text(object.has("text") ? "text" : "prompt"),
                          object.text("code"),
                          object.texts("test_list"),
                          {}};
    if (object.has("test_setup_code"))
      question.setup = object.text("test_setup_code");
    else
      for (const std::string& line : object.texts("test_imports")) question.setup += line + "\n";
    questions.push_back(std::move(question));
  }
  return questions;
}

std::vector<FileQuestion> parse_human_eval(const std::string& text, const std::string& name) {
  std::vector<FileQuestion> questions;
  for (const JsonObject& object : json_objects(text, name))
    questions.push_back({object.text("task_id"),
                         object.text("prompt"),
                         object.text("canonical_solution"),
                         {object.text("test") + "\ncheck(" + object.text("entry_point") + ")"},
                         object.text("entry_point"),
                         object.has("suffix") ? object.text("suffix") : ""});
  return questions;
}

std::vector<FileQuestion> parse_ifeval(const std::string& text, const std::string& name) {
  std::vector<FileQuestion> questions;
  for (const JsonObject& object : json_objects(text, name)) {
    FileQuestion question{std::to_string(object.number("key")), object.text("prompt"), {}, {}, {}};
    const std::vector<std::string> kinds = object.texts("instruction_id_list");
    if (!object.has("kwargs") || !object.json["kwargs"].is_array() ||
        object.json["kwargs"].size() != kinds.size())
      throw DataError("{} has not one entry under 'kwargs' for each of 'instruction_id_list'",
                      object.where);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      nlohmann::json instruction = object.json["kwargs"][i];
      if (instruction.is_null()) instruction = nlohmann::json::object();
      if (!instruction.is_object())
        throw DataError("{} has something else than objects under 'kwargs'", object.where);
      instruction["instruction"] = kinds[i];
      question.tests.push_back(instruction.dump());
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

void QuestionFileOptions::declare(OptionSet& set) {
  set.add("path", &path).help("The file of questions; a file whose name ends in .gz is unpacked.");
  set.add("count", &count).in(0, 1 << 24).help("Questions that are asked; 0: all.");
  set.add("share", &share)
      .in(0, 1)
      .help(
          "Share of each subject's questions that is asked, the first ones, rounded up, as by "
          "lm-eval's --limit 0.1; 0: all.");
  set.add("subset", &subset)
      .help(
          "Which questions: the first of the file, or of a fixed shuffle of it, in the order of "
          "the file.");
  set.add("subset_seed", &subset_seed)
      .in(0, 4294967295.0)
      .help("Seed of the shuffle, which is that of Python's random.Random.");
  set.add("skip", &skip)
      .in(0, 1 << 24)
      .help(
          "Questions at the beginning of the file that are not asked (MBPP's first ten are "
          "examples).");
  set.add("examples", &examples)
      .help("File of the same form, from which the examples before every question are taken.");
  set.add("few_shot", &few_shot)
      .in(0, 1000)
      .help("How many examples: the first of that file, after the skipped ones.");
  set.add("skip_examples", &skip_examples)
      .in(0, 1 << 24)
      .help("Leading questions of that file that are passed over.");
  set.add("system", &system).help("Text before everything; \\n is a line end.");
  set.add("instruction", &instruction)
      .help("Text after the question, such as: Put your final answer within \\boxed{}.");
  set.add("chat", &chat)
      .help(
          "How turns are marked: plain by `turn`; chatml (Qwen, SDAR, Fast-dLLM, Dream), headers "
          "(LLaDA), roles (LLaDA2); model: by what the tokenizer has.");
  set.add("turn", &turn)
      .help("A plain turn: {question} and {answer} stand for themselves, \\n for a line end.");
  set.add("answer_tokens", &answer_tokens)
      .in(1, 1 << 16)
      .help("Positions of an answer, which ends at its first end token.");
  set.add("begin", &begin)
      .help(
          "Every canvas begins with <s>, where the tokenizer has one: what draftlab's trainer "
          "shows a model.");
}

std::vector<int> chosen_questions(int total, const QuestionFileOptions& options) {
  const int skipped = static_cast<int>(std::min<std::int64_t>(options.skip, total));
  total -= skipped;
  std::vector<int> all(static_cast<std::size_t>(total));
  std::iota(all.begin(), all.end(), 0);
  if (options.subset == Subset::shuffled)
    all = python_shuffle(total, static_cast<std::uint32_t>(options.subset_seed));
  if (options.count > 0 && options.count < total)
    all.resize(static_cast<std::size_t>(options.count));
  std::sort(all.begin(), all.end());
  for (int& index : all) index += skipped;
  return all;
}

std::vector<int> share_of_subjects(const std::vector<int>& chosen,
                                   const std::vector<FileQuestion>& questions, double share) {
  std::map<std::string, int> total, taken;
  for (const int index : chosen) ++total[questions[static_cast<std::size_t>(index)].subject];
  std::vector<int> first;
  for (const int index : chosen) {
    const std::string& subject = questions[static_cast<std::size_t>(index)].subject;
    if (taken[subject]++ < std::ceil(total[subject] * share)) first.push_back(index);
  }
  return first;
}

std::string prompt_text(const QuestionFileOptions& options, const Tokenizer& tokenizer,
                        const std::vector<Turn>& examples, const std::string& question) {
  const Chat markup = options.chat == Chat::model ? markup_of(tokenizer) : options.chat;
  const std::string system = with_lines(options.system);
  const auto asked = [&](const std::string& text) {
    return options.instruction.empty() ? text : text + "\n" + with_lines(options.instruction);
  };
  std::string text;
  if (markup != Chat::plain) {
    // LLaDA's template begins with this token.
    if (markup == Chat::headers && is_token(tokenizer, "<|startoftext|>")) text = "<|startoftext|>";
    if (!system.empty()) text += marked(markup, "system", &system);
    for (const Turn& example : examples) {
      const std::string one = asked(example.question);
      text += marked(markup, "user", &one) + marked(markup, "assistant", &example.answer);
    }
    const std::string last = asked(question);
    return text + marked(markup, "user", &last) + marked(markup, "assistant", nullptr);
  }
  const std::string turn = with_lines(options.turn);
  if (!system.empty()) text += system + "\n\n";
  for (const Turn& example : examples)
    text += replaced(replaced(turn, "{answer}", example.answer), "{question}",
                     asked(example.question)) +
            "\n\n";
  std::string open = turn.substr(0, turn.find("{answer}"));
  // The answer's first word brings its own space.
  while (!open.empty() && open.back() == ' ') open.pop_back();
  return text + replaced(open, "{question}", asked(question));
}

std::string next_turn(const QuestionFileOptions& options) {
  const std::string turn = with_lines(options.turn),
                    begins = turn.substr(0, turn.find("{question}"));
  return begins.empty() ? "" : "\n\n" + begins;
}

}  // namespace draftlab
