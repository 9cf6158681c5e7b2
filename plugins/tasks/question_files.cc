#include "plugins/tasks/question_files.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
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

// The 32-bit words of Python's random.Random(seed): the Mersenne twister of Matsumoto and Nishimura (1998), begun by their
// init_by_array with one word. It draws nothing in an experiment: it names a subset that others chose.
class PythonWords {
 public:
  explicit PythonWords(std::uint32_t seed) {
    state_[0] = 19650218u;
    for (std::uint32_t i = 1; i < kSize; ++i) state_[i] = 1812433253u * mixed(i - 1) + i;
    std::uint32_t i = 1;
    const auto next = [&] {
      if (++i < kSize) return;
      state_[0] = state_[kSize - 1];
      i = 1;
    };
    for (std::uint32_t k = 0; k < kSize; ++k, next()) state_[i] = (state_[i] ^ (mixed(i - 1) * 1664525u)) + seed;
    for (std::uint32_t k = 1; k < kSize; ++k, next()) state_[i] = (state_[i] ^ (mixed(i - 1) * 1566083941u)) - i;
    state_[0] = 0x80000000u;
  }
  std::uint32_t operator()() {
    if (at_ == kSize) twist();
    std::uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

 private:
  static constexpr std::uint32_t kSize = 624, kMiddle = 397;
  std::uint32_t mixed(std::uint32_t i) const { return state_[i] ^ (state_[i] >> 30); }
  void twist() {
    for (std::uint32_t i = 0; i < kSize; ++i) {
      const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + kMiddle) % kSize] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    at_ = 0;
  }
  std::array<std::uint32_t, kSize> state_;
  std::uint32_t at_ = kSize;
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
  PythonWords words(seed);
  std::vector<int> order(static_cast<std::size_t>(std::max(total, 0)));
  std::iota(order.begin(), order.end(), 0);
  for (std::uint32_t i = static_cast<std::uint32_t>(order.size()); i-- > 1;) {
    // An even number below i + 1: as many high bits as it needs, drawn again while too large.
    int bits = 0;
    for (std::uint32_t n = i + 1; n; n >>= 1) ++bits;
    std::uint32_t j;
    do j = words() >> (32 - bits);
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
