#include "plugins/tasks/benchmarks/instructions.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "plugins/tasks/sentences.h"
#include "plugins/tokenizers/pattern.h"
#include "plugins/tokenizers/unicode.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

// The arguments of an instruction.
struct Wanted {
  const Json& json;
  const Json& at(const char* key) const {
    if (!json.contains(key) || json[key].is_null())
      throw DataError("IFEval's instruction '{}' has no '{}'",
                      json["instruction"].get<std::string>(), key);
    return json[key];
  }
  std::string text(const char* key) const {
    if (!at(key).is_string())
      throw DataError("IFEval's instruction '{}' has something else than a text under '{}'",
                      json["instruction"].get<std::string>(), key);
    return at(key).get<std::string>();
  }
  std::int64_t number(const char* key) const {
    if (!at(key).is_number())
      throw DataError("IFEval's instruction '{}' has something else than a number under '{}'",
                      json["instruction"].get<std::string>(), key);
    return static_cast<std::int64_t>(at(key).get<double>());
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    for (const Json& one : at(key))
      if (one.is_string()) all.push_back(one.get<std::string>());
    return all;
  }
  // Says whether `count` is "less than" or "at least" the number under `key`.
  bool relates(std::int64_t count, const char* relation, const char* key) const {
    const std::string how = text(relation);
    if (how != "less than" && how != "at least")
      throw DataError("IFEval knows no relation '{}'", how);
    return how == "less than" ? count < number(key) : count >= number(key);
  }
};

std::string stripped(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r\f\v"),
                    last = text.find_last_not_of(" \t\n\r\f\v");
  return first == std::string::npos ? "" : text.substr(first, last + 1 - first);
}

std::vector<std::string> split(const std::string& text, const std::string& at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(at, begin)) != std::string::npos; begin = end + at.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::int64_t count(const std::string& pattern, const std::string& text) {
  return static_cast<std::int64_t>(Pattern(pattern).matches(text).size());
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += std::string(static_cast<unsigned char>(c) < 0x80 &&
                               !std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != ' '
                           ? "\\"
                           : "") +
           c;
  return out;
}

bool all_of_case(const std::string& text, bool (*wanted)(std::uint32_t),
                 bool (*other)(std::uint32_t)) {
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const Point read = read_point(text, at);
    if (other(read.point)) return false;
    any = any || wanted(read.point);
    at += std::max<std::size_t>(read.bytes, 1);
  }
  return any;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const Range& range : Pattern("\\w+").matches(text))
    words.push_back(text.substr(range.begin, range.end - range.begin));
  return words;
}

std::int64_t sentences(const std::string& text) {
  std::int64_t number = 0;
  for (const std::string& line : all_lines(text))
    if (!blank(line)) number += static_cast<std::int64_t>(sentences_of(line).size());
  return number;
}

// Counts the paragraphs between `***`. Empty ones at either end do not count, and -1 says that
// there is an empty one in the middle.
std::int64_t starred_paragraphs(const std::string& text) {
  const std::vector<std::string> parts = split(text, "***");
  auto number = static_cast<std::int64_t>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!stripped(parts[i]).empty()) continue;
    if (i > 0 && i + 1 < parts.size()) return -1;
    --number;
  }
  return number;
}

bool nth_paragraph_begins(const Wanted& wanted, const std::string& text) {
  const std::vector<std::string> parts = split(text, "\n\n");
  auto number = static_cast<std::int64_t>(parts.size());
  for (const std::string& part : parts) number -= stripped(part).empty();
  const std::int64_t nth = wanted.number("nth_paragraph");
  if (nth < 1 || nth > number || nth > static_cast<std::int64_t>(parts.size())) return false;
  const std::string paragraph = stripped(parts[static_cast<std::size_t>(nth - 1)]);
  if (paragraph.empty()) return false;
  std::string word = paragraph.substr(0, paragraph.find_first_of(" \t\n"));
  while (!word.empty() && (word.front() == '\'' || word.front() == '"')) word.erase(0, 1);
  word.resize(std::min(word.size(), word.find_first_of(".,?!'\"")));
  return number == wanted.number("num_paragraphs") &&
         lowered(word) == lowered(wanted.text("first_word"));
}

bool is_json(std::string text) {
  text = stripped(text);
  for (const std::string fence : {"```json", "```Json", "```JSON", "```"})
    if (text.starts_with(fence)) text.erase(0, fence.size());
  if (text.ends_with("```")) text.resize(text.size() - 3);
  return Json::accept(stripped(text));
}

bool two_responses(const std::string& text) {
  std::vector<std::string> valid;
  const std::vector<std::string> parts = split(text, "******");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!stripped(parts[i]).empty())
      valid.push_back(stripped(parts[i]));
    else if (i > 0 && i + 1 < parts.size())
      return false;
  }
  return valid.size() == 2 && valid[0] != valid[1];
}

std::int64_t highlights(const std::string& text) {
  std::int64_t number = 0;
  const auto add = [&](const char* pattern, std::size_t stars) {
    for (const Range& range : Pattern(pattern).matches(text))
      number +=
          !stripped(text.substr(range.begin + stars, range.end - range.begin - 2 * stars)).empty();
  };
  add("\\*[^\\n\\*]*\\*", 1);
  add("\\*\\*[^\\n\\*]*\\*\\*", 2);
  return number;
}

bool has_title(const std::string& text) {
  for (const Range& range : Pattern("<<[^\\n]+>>").matches(text)) {
    std::string title = text.substr(range.begin, range.end - range.begin);
    title.erase(0, title.find_first_not_of('<'));
    while (!title.empty() && title.back() == '>') title.pop_back();
    if (!stripped(title).empty()) return true;
  }
  return false;
}

bool has_postscript(const Wanted& wanted, const std::string& text) {
  const std::string marker = wanted.text("postscript_marker");
  const std::string pattern = marker == "P.P.S"  ? "\\s*p\\.\\s?p\\.\\s?s.*$"
                              : marker == "P.S." ? "\\s*p\\.\\s?s\\..*$"
                                                 : "\\s*" + escaped(lowered(marker)) + ".*$";
  return count(pattern, lowered(text)) > 0;
}

bool quoted(const std::string& text) {
  const std::string inner = stripped(text);
  return inner.size() > 1 && inner.front() == '"' && inner.back() == '"';
}

bool ends_with_phrase(const Wanted& wanted, const std::string& text) {
  std::string end = stripped(text);
  while (!end.empty() && end.back() == '"') end.pop_back();
  while (!end.empty() && end.front() == '"') end.erase(0, 1);
  return lowered(end).ends_with(lowered(stripped(wanted.text("end_phrase"))));
}

using Check = bool (*)(const Wanted&, const std::string&);
const std::map<std::string, Check> kChecks = {
    {"keywords:existence",
     [](const Wanted& w, const std::string& t) {
       const std::vector<std::string> words = w.texts("keywords");
       return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
         return count("(?i)" + escaped(word), t) > 0;
       });
     }},
    {"keywords:frequency",
     [](const Wanted& w, const std::string& t) {
       return w.relates(count("(?i)" + escaped(w.text("keyword")), t), "relation", "frequency");
     }},
    {"keywords:forbidden_words",
     [](const Wanted& w, const std::string& t) {
       const std::vector<std::string> words = w.texts("forbidden_words");
       return std::none_of(words.begin(), words.end(), [&](const std::string& word) {
         return count("(?i)\\b" + escaped(word) + "\\b", t) > 0;
       });
     }},
    {"keywords:letter_frequency",
     [](const Wanted& w, const std::string& t) {
       return w.relates(
           static_cast<std::int64_t>(split(lowered(t), lowered(w.text("letter"))).size()) - 1,
           "let_relation", "let_frequency");
     }},
    {"length_constraints:number_sentences",
     [](const Wanted& w, const std::string& t) {
       return w.relates(sentences(t), "relation", "num_sentences");
     }},
    {"length_constraints:number_paragraphs",
     [](const Wanted& w, const std::string& t) {
       return starred_paragraphs(t) == w.number("num_paragraphs");
     }},
    {"length_constraints:number_words",
     [](const Wanted& w, const std::string& t) {
       return w.relates(static_cast<std::int64_t>(words_of(t).size()), "relation", "num_words");
     }},
    {"length_constraints:nth_paragraph_first_word", nth_paragraph_begins},
    {"detectable_content:number_placeholders",
     [](const Wanted& w, const std::string& t) {
       return count("\\[.*?\\]", t) >= w.number("num_placeholders");
     }},
    {"detectable_content:postscript", has_postscript},
    {"detectable_format:number_bullet_lists",
     [](const Wanted& w, const std::string& t) {
       return count("^\\s*\\*[^\\*].*$", t) + count("^\\s*-.*$", t) == w.number("num_bullets");
     }},
    {"detectable_format:constrained_response",
     [](const Wanted&, const std::string& t) {
       return t.find("My answer is yes.") != t.npos || t.find("My answer is no.") != t.npos ||
              t.find("My answer is maybe.") != t.npos;
     }},
    {"detectable_format:number_highlighted_sections",
     [](const Wanted& w, const std::string& t) {
       return highlights(t) >= w.number("num_highlights");
     }},
    {"detectable_format:multiple_sections",
     [](const Wanted& w, const std::string& t) {
       return count("\\s?" + escaped(w.text("section_spliter")) + "\\s?\\d+\\s?", t) >=
              w.number("num_sections");
     }},
    {"detectable_format:json_format",
     [](const Wanted&, const std::string& t) { return is_json(t); }},
    {"detectable_format:title", [](const Wanted&, const std::string& t) { return has_title(t); }},
    {"combination:two_responses",
     [](const Wanted&, const std::string& t) { return two_responses(t); }},
    {"combination:repeat_prompt",
     [](const Wanted& w, const std::string& t) {
       return lowered(stripped(t)).starts_with(lowered(stripped(w.text("prompt_to_repeat"))));
     }},
    {"startend:end_checker", ends_with_phrase},
    {"startend:quotation", [](const Wanted&, const std::string& t) { return quoted(t); }},
    {"change_case:capital_word_frequency",
     [](const Wanted& w, const std::string& t) {
       const std::vector<std::string> words = words_of(t);
       return w.relates(std::count_if(words.begin(), words.end(),
                                      [](const std::string& one) {
                                        return all_of_case(one, upper_case, lower_case);
                                      }),
                        "capital_relation", "capital_frequency");
     }},
    {"change_case:english_capital",
     [](const Wanted&, const std::string& t) { return all_of_case(t, upper_case, lower_case); }},
    {"change_case:english_lowercase",
     [](const Wanted&, const std::string& t) { return all_of_case(t, lower_case, upper_case); }},
    {"punctuation:no_comma",
     [](const Wanted&, const std::string& t) { return t.find(',') == t.npos; }},
};

}  // namespace

std::optional<bool> follows(const Json& instruction, const std::string& answer) {
  const std::string kind = instruction.at("instruction").get<std::string>();
  if (kind == "language:response_language") return std::nullopt;
  const auto check = kChecks.find(kind);
  if (check == kChecks.end()) throw DataError("IFEval's instruction '{}' is not known", kind);
  return !stripped(answer).empty() && check->second({instruction}, answer);
}

std::optional<bool> follows_loosely(const Json& instruction, const std::string& answer) {
  const auto without = [](const std::string& text, bool first, bool last) {
    std::vector<std::string> lines = split(text, "\n");
    if (first) lines.erase(lines.begin());
    if (last && !lines.empty()) lines.pop_back();
    std::string joined;
    for (const std::string& line : lines) joined += (joined.empty() ? "" : "\n") + line;
    return stripped(joined);
  };
  std::string plain = answer;
  std::erase(plain, '*');
  std::optional<bool> any;
  for (const std::string& text : {answer, plain})
    for (const auto& [first, last] :
         {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
      const std::optional<bool> one =
          follows(instruction, first || last ? without(text, first, last) : text);
      if (!one) return one;
      any = any.value_or(false) || *one;
    }
  return any;
}

}  // namespace draftlab
