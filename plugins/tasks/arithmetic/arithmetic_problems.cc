#include "plugins/tasks/arithmetic/arithmetic_problems.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "core/base/error.h"
#include "core/prob/chance.h"
#include "plugins/tasks/choices.h"

namespace draftlab {
namespace {

using Words = std::vector<std::string>;

// No number of a problem is larger than this.
constexpr int kMost = 40;

struct Thing {
  std::string many, holder;
};
const std::vector<Thing> kThings = {
    {"apples", "bags"},  {"pears", "bags"},    {"plums", "bowls"},   {"nuts", "bowls"},
    {"eggs", "boxes"},   {"cakes", "boxes"},   {"books", "shelves"}, {"cards", "packs"},
    {"stamps", "packs"}, {"coins", "jars"},    {"shells", "jars"},   {"beads", "jars"},
    {"pens", "boxes"},   {"balls", "baskets"}, {"roses", "vases"},   {"stones", "boxes"}};
const Words kWomen = {"Anna", "Clara", "Emma", "Ida", "Lena", "Nora", "Rosa", "Vera"};
const Words kMen = {"Ben", "Carl", "Felix", "Hugo", "Leo", "Max", "Paul", "Tom"};

// Replaces each {slot} by its value and makes the first letter a capital.
std::string fill(const std::string& text, const std::map<std::string, std::string>& slots) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      out += text[i];
      continue;
    }
    const std::size_t close = text.find('}', i);
    const auto slot = slots.find(text.substr(i + 1, close - i - 1));
    if (slot == slots.end()) throw Fault("the problem template '{}' names an unknown slot", text);
    out += slot->second;
    i = close;
  }
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

// Says what happens to the number {x}: it becomes {y}. {b} is the other number, and {c} a third.
struct Move {
  enum Kind { more, less, again, half, packs } kind;
  Words told, worked;
};
const std::vector<Move> kMoves = {
    {Move::more,
     {"{he} finds {b} more.", "{he} buys {b} more.", "{friend} gives {him} {b} more.",
      "then {he} gets {b} more."},
     {"{he} gets {b} more, so {he} has {x}+{b}={y} {things}.", "now {he} has {x}+{b}={y} {things}.",
      "with {b} more that makes {x}+{b}={y} {things}."}},
    {Move::less,
     {"{he} loses {b} of them.", "{he} sells {b} of them.", "{he} gives {b} to {friend}.",
      "then {friend} takes {b} of them."},
     {"{b} are gone, so {he} has {x}-{b}={y} {things}.", "now {he} has {x}-{b}={y} {things}.",
      "without these {b} there are {x}-{b}={y} {things}."}},
    {Move::again,
     {"{friend} gives {him} as many again.", "then {he} gets as many again."},
     {"{he} gets as many again, so {he} has {x}+{x}={y} {things}.",
      "twice as many makes {x}+{x}={y} {things}."}},
    {Move::half,
     {"{he} gives half of them to {friend}.", "then {he} sells half of them."},
     {"half of them are gone, so {he} has {x}/2={y} {things}.",
      "the other half is {x}/2={y} {things}."}},
    {Move::packs,
     {"{he} buys {b} {holders} of {c}.", "{friend} gives {him} {b} {holders} of {c}."},
     {"the {holders} hold {b}*{c}={d} {things}, so {he} has {x}+{d}={y} {things}.",
      "that is {b}*{c}={d} {things} more, and {x}+{d}={y} {things}."}}};

const Words kOpenings = {"{name} has {a} {things}.", "{name} owns {a} {things}.",
                         "there are {a} {things} on the table of {name}."};
const Words kOpened = {"{name} starts with {a} {things}.", "at first there are {a} {things}.",
                       "{name} has {a} {things}."};
const Words kPacked = {"{name} has {b} {holders} with {c} {things} in each.",
                       "{name} fills {b} {holders} with {c} {things} each."};
const Words kUnpacked = {"{name} starts with {b}*{c}={y} {things}.",
                         "the {holders} hold {b}*{c}={y} {things}."};
const Words kQuestions = {"how many {things} does {name} have now?",
                          "how many {things} does {name} have in the end?",
                          "how many {things} are there then?"};

class Telling {
 public:
  explicit Telling(Choices choices) : choices_(choices) {}

  Problem tell() {
    choose_names();
    const int moves = choices_.between(1, 3);
    open();
    for (int i = 0; i < moves; ++i) move();
    problem_.question += " " + fill(choices_.of(kQuestions), slots_);
    problem_.worked += " #### " + std::to_string(value_);
    problem_.answer = value_;
    return problem_;
  }

 private:
  void choose_names() {
    const bool woman = choices_.below(2);
    slots_["name"] = choices_.of(woman ? kWomen : kMen);
    slots_["he"] = woman ? "she" : "he";
    slots_["him"] = woman ? "her" : "him";
    // The friend's name comes from the other list, so that nobody is both.
    slots_["friend"] = choices_.of(woman ? kMen : kWomen);
    const Thing& thing = choices_.of(kThings);
    slots_["things"] = thing.many;
    slots_["holders"] = thing.holder;
  }

  void say(const Words& told, const Words& worked) {
    problem_.question += (problem_.question.empty() ? "" : " ") + fill(choices_.of(told), slots_);
    problem_.worked += (problem_.worked.empty() ? "" : " ") + fill(choices_.of(worked), slots_);
  }

  void open() {
    if (choices_.below(3) == 0) {
      const int packs = choices_.between(2, 4), each = choices_.between(2, 5);
      value_ = packs * each;
      slots_["b"] = std::to_string(packs);
      slots_["c"] = std::to_string(each);
      slots_["y"] = std::to_string(value_);
      return say(kPacked, kUnpacked);
    }
    value_ = choices_.between(3, 20);
    slots_["a"] = std::to_string(value_);
    say(kOpenings, kOpened);
  }

  bool possible(Move::Kind kind) const {
    switch (kind) {
      case Move::more: return value_ + 9 <= kMost;
      case Move::less: return value_ >= 4;
      case Move::again: return 2 * value_ <= kMost;
      case Move::half: return value_ % 2 == 0 && value_ >= 4;
      case Move::packs: return value_ + 20 <= kMost;
    }
    return false;
  }

  void move() {
    // Adding and taking away are three times as frequent as the rest.
    std::vector<const Move*> moves;
    for (const Move& move : kMoves)
      if (possible(move.kind))
        moves.insert(moves.end(), move.kind == Move::more || move.kind == Move::less ? 3 : 1,
                     &move);
    const Move& move = *choices_.of(moves);
    slots_["x"] = std::to_string(value_);
    int other = 0;
    switch (move.kind) {
      case Move::more: value_ += other = choices_.between(2, 9); break;
      case Move::less: value_ -= other = choices_.between(2, std::min(9, value_ - 1)); break;
      case Move::again: value_ *= 2; break;
      case Move::half: value_ /= 2; break;
      case Move::packs: {
        other = choices_.between(2, 4);
        const int each = choices_.between(2, 5);
        slots_["c"] = std::to_string(each);
        slots_["d"] = std::to_string(other * each);
        value_ += other * each;
      }
    }
    slots_["b"] = std::to_string(other);
    slots_["y"] = std::to_string(value_);
    say(move.told, move.worked);
  }

  Choices choices_;
  Problem problem_;
  std::map<std::string, std::string> slots_;
  int value_ = 0;
};

}  // namespace

Problem make_problem(std::uint64_t seed, std::int64_t index, ProblemSplit split) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    Problem problem =
        Telling(Choices(seed, index, static_cast<std::uint32_t>(split), attempt)).tell();
    if (problem_split_of(problem.question) == split) return problem;
  }
}

}  // namespace draftlab
