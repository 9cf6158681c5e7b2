#include "plugins/tasks/stories/stories.h"

#include <cctype>
#include <utility>

#include "core/base/error.h"
#include "core/prob/chance.h"
#include "plugins/tasks/choices.h"
#include "plugins/tasks/stories/story_grammar.h"

namespace draftlab {
namespace {

// What the slots of one story hold, by their numbers.
using Slots = std::vector<const Template*>;

struct Gender {
  Template he, him, his;
};

// A person of a story: the slots that name one and speak of one.
struct Role {
  std::size_t name, he, him, his;
};
Role role(const std::string& name, const std::string& prefix) {
  return {slot_of(name), slot_of(prefix + "he"), slot_of(prefix + "him"), slot_of(prefix + "his")};
}

// Who can be in a story.
struct People {
  Gender female{template_of("she"), template_of("her"), template_of("her")},
      male{template_of("he"), template_of("him"), template_of("his")};
  std::vector<Template> women = templates_of({"Anna", "Clara", "Emma", "Ida", "Julia", "Lena",
                                              "Maria", "Nora", "Rosa", "Sara", "Vera", "Zoe"}),
                        men = templates_of({"Ben", "Carl", "David", "Felix", "Hugo", "Jack", "Leo",
                                            "Max", "Noah", "Oscar", "Paul", "Tom"}),
                        kinswomen = templates_of({"mother", "sister", "grandmother", "aunt"}),
                        kinsmen = templates_of({"father", "brother", "grandfather", "uncle"});
  Role hero = role("hero", ""), other = role("friend", "f"), kin = role("kin", "k");
};

const People& people() {
  static const People all;
  return all;
}

void name_person(Slots& slots, const Role& role, const Template& name, const Gender& gender) {
  slots[role.name] = &name;
  slots[role.he] = &gender.he;
  slots[role.him] = &gender.him;
  slots[role.his] = &gender.his;
}

void name_people(Slots& slots, const People& all, Choices& choices) {
  const bool hero = choices.below(2), other = choices.below(2), kin = choices.below(2);
  const Template& name = choices.of(hero ? all.women : all.men);
  name_person(slots, all.hero, name, hero ? all.female : all.male);
  const Template* second = &name;
  while (second->source == name.source) second = &choices.of(other ? all.women : all.men);
  name_person(slots, all.other, *second, other ? all.female : all.male);
  name_person(slots, all.kin, choices.of(kin ? all.kinswomen : all.kinsmen),
              kin ? all.female : all.male);
}

void draw_row(Slots& slots, const SlotTable& table, Choices& choices) {
  const std::vector<Template>& row = choices.of(table.rows);
  for (std::size_t i = 0; i < row.size(); ++i) slots[table.slots[i]] = &row[i];
}

// Writes a template from left to right; what a slot brings in is expanded too.
void expand(const Template& from, const Slots& slots, Choices& choices, std::string& out) {
  for (const Template::Piece& piece : from.pieces) {
    if (piece.kind == Template::Kind::text) {
      out += piece.text;
    } else if (piece.kind == Template::Kind::choice) {
      out += choices.of(piece.options);
    } else if (slots[piece.slot]) {
      expand(*slots[piece.slot], slots, choices, out);
    } else {
      throw Fault("the story template '{}' names a slot that no table of its plot fills: '{}'",
                  from.source, piece.text);
    }
  }
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
  const StoryPlot& plot = choices.of(plots());
  const std::vector<SlotTable>& common = common_slot_tables();
  const People& all = people();
  Slots slots(slot_count());  // Everything that names a slot was made above.
  name_people(slots, all, choices);
  for (const SlotTable& table : common) draw_row(slots, table, choices);
  for (const SlotTable& table : plot.tables) draw_row(slots, table, choices);
  Story story;
  story.plot = plot.name;
  for (std::size_t i = 0; i < story.sentences.size(); ++i) {
    std::string sentence;
    expand(choices.of(plot.sentences[i]), slots, choices, sentence);
    story.sentences[i] = spell(std::move(sentence));
  }
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
