#include "plugins/tasks/stories/stories.h"

#include <cctype>
#include <map>

#include "core/base/error.h"
#include "core/prob/chance.h"
#include "plugins/tasks/choices.h"
#include "plugins/tasks/stories/story_plots.h"

namespace draftlab {
namespace {

using Slots = std::map<std::string, std::string>;

std::vector<std::string> split_at(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(separator, begin)) != std::string::npos;
       begin = at + separator.size())
    parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

struct Gender {
  const char *he, *him, *his;
};
constexpr Gender kFemale{"she", "her", "her"}, kMale{"he", "him", "his"};
const std::vector<std::string> kWomen = {"Anna",  "Clara", "Emma", "Ida",  "Julia", "Lena",
                                         "Maria", "Nora",  "Rosa", "Sara", "Vera",  "Zoe"};
const std::vector<std::string> kMen = {"Ben", "Carl", "David", "Felix", "Hugo", "Jack",
                                       "Leo", "Max",  "Noah",  "Oscar", "Paul", "Tom"};
const std::vector<std::string> kKinswomen = {"mother", "sister", "grandmother", "aunt"};
const std::vector<std::string> kKinsmen = {"father", "brother", "grandfather", "uncle"};

void name_person(Slots& slots, const std::string& name, const Gender& gender,
                 const std::string& role, const std::string& prefix) {
  slots[role] = name;
  slots[prefix + "he"] = gender.he;
  slots[prefix + "him"] = gender.him;
  slots[prefix + "his"] = gender.his;
}

void cast(Slots& slots, Choices& choices) {
  const bool hero = choices.below(2), friend_ = choices.below(2), kin = choices.below(2);
  name_person(slots, choices.of(hero ? kWomen : kMen), hero ? kFemale : kMale, "hero", "");
  std::string other;
  do other = choices.of(friend_ ? kWomen : kMen);
  while (other == slots["hero"]);
  name_person(slots, other, friend_ ? kFemale : kMale, "friend", "f");
  name_person(slots, choices.of(kin ? kKinswomen : kKinsmen), kin ? kFemale : kMale, "kin", "k");
}

void draw_row(Slots& slots, const PlotTable& table, Choices& choices) {
  const std::vector<std::string> columns = split_at(table.columns, " | "),
                                 values = split_at(choices.of(table.rows), " | ");
  if (columns.size() != values.size())
    throw Fault("the story table '{}' has a row of another width: '{}'", table.columns, values[0]);
  for (std::size_t i = 0; i < columns.size(); ++i) slots[columns[i]] = values[i];
}

// Expands {slot} and (one|other) from left to right; what a slot brings in is expanded too.
std::string expand(const std::string& text, const Slots& slots, Choices& choices) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') {
      const std::size_t close = text.find('}', i);
      const auto slot = slots.find(text.substr(i + 1, close - i - 1));
      if (slot == slots.end()) throw Fault("the story template '{}' names an unknown slot", text);
      out += expand(slot->second, slots, choices);
      i = close;
    } else if (text[i] == '(') {
      const std::size_t close = text.find(')', i);
      out += choices.of(split_at(text.substr(i + 1, close - i - 1), "|"));
      i = close;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Turns "a" before a vowel into "an" and makes the first letter a capital.
std::string spell(std::string sentence) {
  for (std::size_t at = sentence.find("a "); at != std::string::npos;
       at = sentence.find("a ", at + 1)) {
    const bool word = at == 0 || sentence[at - 1] == ' ';
    if (word && at + 2 < sentence.size() &&
        std::string("aeiou").find(sentence[at + 2]) != std::string::npos)
      sentence.insert(at + 1, "n");
  }
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

Story tell(Choices choices) {
  const Plot& plot = choices.of(story_plots());
  Slots slots;
  cast(slots, choices);
  for (const PlotTable& table : common_tables()) draw_row(slots, table, choices);
  for (const PlotTable& table : plot.tables) draw_row(slots, table, choices);
  Story story;
  story.plot = plot.name;
  for (int i = 0; i < 5; ++i)
    story.sentences[i] = spell(expand(choices.of(plot.sentences[i]), slots, choices));
  return story;
}

}  // namespace

std::string Story::text() const {
  std::string text = sentences[0];
  for (int i = 1; i < 5; ++i) text += " " + sentences[i];
  return text;
}

Split split_of(const std::string& text) {
  const std::uint64_t sixteenth = stable_hash(text) % 16;
  return sixteenth == 0 ? Split::test : sixteenth == 1 ? Split::validation : Split::train;
}

Story make_story(std::uint64_t seed, std::int64_t index, Split split) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    Story story = tell(Choices(seed, index, static_cast<std::uint32_t>(split), attempt));
    if (split_of(story.text()) == split) return story;
  }
}

std::vector<Story> make_stories(std::uint64_t seed, std::int64_t count, Split split) {
  std::vector<Story> stories;
  for (std::int64_t i = 0; i < count; ++i) stories.push_back(make_story(seed, i, split));
  return stories;
}

}  // namespace draftlab
