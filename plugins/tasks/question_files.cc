#include "plugins/tasks/question_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "core/error.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

// The objects of the file, each with its place for messages: one a line, or one array of all.
std::vector<std::pair<std::string, Json>> objects(const std::string& text, const std::string& name) {
  std::vector<std::pair<std::string, Json>> all;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '[') {
    const Json array = Json::parse(text, nullptr, false);
    if (array.is_discarded()) throw DataError("'" + name + "' is not a JSON array");
    for (const Json& object : array) all.emplace_back("'" + name + "' item " + std::to_string(all.size() + 1), object);
  } else {
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.find_first_not_of(" \t\r") != std::string::npos)
        all.emplace_back("'" + name + "' line " + std::to_string(number), Json::parse(line, nullptr, false));
    }
  }
  for (const auto& [here, object] : all)
    if (!object.is_object()) throw DataError(here + " is not a JSON object");
  if (all.empty()) throw DataError("'" + name + "' holds no question");
  return all;
}

std::string text_of(const Json& object, const std::string& here, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) throw DataError(here + " has no text under '" + key + "'");
  std::string text = found->get<std::string>();
  std::erase(text, '\r');
  return text;
}

std::vector<std::string> texts_of(const Json& object, const std::string& here, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) throw DataError(here + " has no list under '" + key + "'");
  std::vector<std::string> texts;
  for (const Json& item : *found) {
    if (!item.is_string()) throw DataError(here + " has something else than texts under '" + key + "'");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::string without_annotations(std::string text) {
  for (std::size_t at; (at = text.find("<<")) != std::string::npos;) {
    const std::size_t end = text.find(">>", at);
    if (end == std::string::npos) break;
    text.erase(at, end + 2 - at);
  }
  return text;
}

// What Python makes of random.seed(n): Matsumoto and Nishimura's init_by_array with one word.
struct PythonSeed {
  using result_type = std::uint32_t;
  std::uint32_t seed;
  template <class Iterator> void generate(Iterator first, Iterator last) const {
    const auto n = static_cast<std::size_t>(last - first);
    std::vector<std::uint32_t> state(n);
    state[0] = 19650218u;
    for (std::size_t i = 1; i < n; ++i) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
    std::size_t i = 1;
    const auto next = [&] {
      if (++i >= n) {
        state[0] = state[n - 1];
        i = 1;
      }
    };
    for (std::size_t k = 0; k < n; ++k, next()) state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1664525u)) + seed;
    for (std::size_t k = 1; k < n; ++k, next())
      state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941u)) - static_cast<std::uint32_t>(i);
    state[0] = 0x80000000u;
    std::copy(state.begin(), state.end(), first);
  }
};

}  // namespace

std::vector<FileQuestion> parse_gsm8k(const std::string& text, const std::string& name) {
  std::vector<FileQuestion> questions;
  for (const auto& [here, object] : objects(text, name))
    questions.push_back({std::to_string(questions.size()), text_of(object, here, "question"), without_annotations(text_of(object, here, "answer")), {}, {}});
  return questions;
}

std::vector<FileQuestion> parse_mbpp(const std::string& text, const std::string& name) {
  std::vector<FileQuestion> questions;
  for (const auto& [here, object] : objects(text, name)) {
    if (!object.contains("task_id") || !object["task_id"].is_number_integer()) throw DataError(here + " has no number under 'task_id'");
    FileQuestion question{std::to_string(object["task_id"].get<std::int64_t>()), text_of(object, here, object.contains("text") ? "text" : "prompt"),
                      text_of(object, here, "code"), texts_of(object, here, "test_list"), {}};
    if (object.contains("test_setup_code")) question.setup = text_of(object, here, "test_setup_code");
    else for (const std::string& line : texts_of(object, here, "test_imports")) question.setup += line + "\n";
    questions.push_back(std::move(question));
  }
  return questions;
}

void QuestionFileOptions::declare(OptionSet& set) {
  set.add("path", &path).help("the file of questions");
  set.add("count", &count).in(0, 1 << 24).help("questions that are asked; 0: all");
  set.add("subset", &subset).one_of({"first", "shuffled"}).help("which: the first of the file, or of a fixed shuffle of it, in the order of the file");
  set.add("subset_seed", &subset_seed).in(0, 4294967295.0).help("of the shuffle, which is that of Python's random.Random");
  set.add("examples", &examples).help("a file like it, from which examples are taken that stand before every question");
  set.add("few_shot", &few_shot).in(0, 1000).help("how many: the first of that file");
  set.add("system", &system).help("text before everything");
  set.add("instruction", &instruction).help("text after the question, such as: Put your final answer within \\boxed{}.");
  set.add("chat", &chat).one_of({"plain", "chatml"}).help("how turns are marked");
  set.add("answer_tokens", &answer_tokens).in(1, 1 << 16).help("positions of an answer, which ends at its first end token");
  set.add("begin", &begin).help("every canvas begins with <s>: what draftlab's trainer shows a model");
}

std::vector<int> python_shuffle(int total, std::uint32_t seed) {
  PythonSeed sequence{seed};
  std::mt19937 words(sequence);
  std::vector<int> order(static_cast<std::size_t>(std::max(total, 0)));
  std::iota(order.begin(), order.end(), 0);
  for (std::uint32_t i = static_cast<std::uint32_t>(order.size()); i-- > 1;) {
    // An even number below i + 1: as many high bits as it needs, drawn again while too large.
    int bits = 0;
    for (std::uint32_t n = i + 1; n; n >>= 1) ++bits;
    std::uint32_t j;
    do j = static_cast<std::uint32_t>(words()) >> (32 - bits);
    while (j > i);
    std::swap(order[i], order[j]);
  }
  return order;
}

std::vector<int> chosen_questions(int total, const QuestionFileOptions& options) {
  std::vector<int> all(static_cast<std::size_t>(total));
  std::iota(all.begin(), all.end(), 0);
  if (options.subset == "shuffled") all = python_shuffle(total, static_cast<std::uint32_t>(options.subset_seed));
  if (options.count > 0 && options.count < total) all.resize(static_cast<std::size_t>(options.count));
  std::sort(all.begin(), all.end());
  return all;
}

std::string prompt_text(const QuestionFileOptions& options, const std::vector<Turn>& examples, const std::string& question) {
  const auto asked = [&](const std::string& text) { return options.instruction.empty() ? text : text + "\n" + options.instruction; };
  std::string text;
  if (options.chat == "chatml") {
    const auto turn = [&](const std::string& who, const std::string& what) { text += "<|im_start|>" + who + "\n" + what + "<|im_end|>\n"; };
    if (!options.system.empty()) turn("system", options.system);
    for (const Turn& example : examples) {
      turn("user", asked(example.question));
      turn("assistant", example.answer);
    }
    turn("user", asked(question));
    return text + "<|im_start|>assistant\n";
  }
  if (!options.system.empty()) text += options.system + "\n\n";
  for (const Turn& example : examples) text += "Question: " + asked(example.question) + "\nAnswer: " + example.answer + "\n\n";
  return text + "Question: " + asked(question) + "\nAnswer:";
}

}  // namespace draftlab
