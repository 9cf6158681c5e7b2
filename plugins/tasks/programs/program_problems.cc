#include "plugins/tasks/programs/program_problems.h"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/prob/chance.h"
#include "plugins/tasks/choices.h"
#include "plugins/tasks/programs/program_phrases.h"

namespace draftlab {
namespace {

// The most tokens of a solution, so that with the end of text it fits 64 positions.
constexpr int kMostTokens = 63;

// Makes one problem.
class Maker : ProgramPhrases {
 public:
  explicit Maker(const Choices& choices) : ProgramPhrases(choices) {}

  ProgramProblem make() {
    constexpr struct {
      const char* name;
      ProgramProblem (Maker::*make)();
    } kFamilies[] = {
        {"chain", &Maker::chain},     {"choice", &Maker::choice},   {"ladder", &Maker::ladder},
        {"collect", &Maker::collect}, {"collect", &Maker::collect}, {"fold", &Maker::fold},
        {"fold", &Maker::fold},       {"find", &Maker::find},       {"decide", &Maker::decide},
        {"pairs", &Maker::pairs},     {"until", &Maker::until},     {"summary", &Maker::summary}};
    const auto& family = kFamilies[choices_.below(std::size(kFamilies))];
    ProgramProblem problem = (this->*family.make)();
    problem.family = family.name;
    return problem;
  }

 private:
  // The next functions make the families of problems, each with an example.

  // "Take a, add 3, multiply by b and square it."
  ProgramProblem chain() {
    integers_ = 1;
    std::vector<std::string> said;
    std::string body;
    Code value = variable("a");
    const int count = choices_.between(3, 5);
    ProgramStep before;
    for (int i = 0; i < count; ++i) {
      ProgramStep next = step();
      while (i > 0 && next.kind == before.kind) next = step();
      said.push_back(next.order());
      if (i > 0) {
        body += "r = " + value.text + " ";
        value = variable("r");
      }
      value = next.applied(value);
      before = next;
    }
    return done(one_of({"take a, ", "start with a, "}) + enumerated(said),
                body + "return " + value.text);
  }

  // "If a is even, return a increased by 3, otherwise the product of a and b."
  ProgramProblem choice() {
    integers_ = 1;
    const auto [when, test] = condition_of_integers();
    const auto [one, one_code] = expression();
    const auto [other, other_code] = expression();
    return done("if " + when + ", return " + one + ", otherwise " + other,
                "if " + test + " : return " + one_code + " end return " + other_code);
  }

  // "If a is even, return 3, else if b is negative, a squared, otherwise b."
  ProgramProblem ladder() {
    integers_ = 2;
    const std::string name = one_of({"a", "b"});
    // The two conditions are then of two kinds, so that neither decides the other.
    const bool same = name == "a";
    const Condition first = same ? divides() : condition("a"),
                    second = same ? compares("a") : condition(name);
    const auto [one, one_code] = expression();
    const auto [two, two_code] = expression();
    const auto [three, three_code] = expression();
    return done("if a is " + first.text + ", return " + one + ", else if " + name + " is " +
                    second.text + ", " + two + ", otherwise " + three,
                "if " + first.on("a") + " : return " + one_code + " end if " + second.on(name) +
                    " : return " + two_code + " end return " + three_code);
  }

  // "Collect the numbers in xs that are odd, each squared, then sort them."
  ProgramProblem collect() {
    const Source from = source();
    const bool filtered = !one_in(4);
    const auto [that, test] =
        filtered ? condition_of_x(from.list) : std::pair<std::string, std::string>();
    const auto [changed, value] = each(2, "x");
    const std::string order = one_of({"", "sort", "reverse"});
    const std::string grow = "t = t + [ " + value.text + " ]";
    return done(one_of({"collect ", "list "}) + from.noun + (filtered ? " that are " + that : "") +
                    changed + (order.empty() ? "" : ", then " + order + " them"),
                "t = [ ] " + from.before +
                    (filtered ? "if " + test + " : " + grow + " end" : grow) + from.after +
                    " return " + (order.empty() ? "t" : order + " ( t )"));
  }

  // "Add up the numbers in xs that are odd, each squared, then halve it."
  ProgramProblem fold() {
    const Source from = source();
    enum { sum, product, number, largest, smallest };
    const int how = choices_.between(0, 4);
    const bool filtered = how == number || !one_in(4);
    const auto [that, test] =
        filtered ? condition_of_x(from.list) : std::pair<std::string, std::string>();
    const auto [changed, value] = each(how == number ? 0 : 2, "x");
    // Whether the sentence names the value at which the fold starts.
    const bool named = how >= largest || one_in(4);
    const int first =
        how == smallest ? choices_.between(3, 12) : choices_.between(0, how == largest ? 4 : 12);
    const std::string start = named ? std::to_string(first) : how == product ? "1" : "0";
    constexpr const char* kVerbs[] = {"add up ", "multiply together ", "count ",
                                      "find the largest of ", "find the smallest of "};
    const std::string update =
        how == sum       ? "t + " + value.text
        : how == product ? "t * " + value.at_least(Code::sign)
        : how == number  ? "t + 1"
                         : (how == largest ? "max ( t , " : "min ( t , ") + value.text + " )";
    const auto [last, result] = finally(0, how == number ? 2 : 1, "t");
    return done((named ? "starting from " + start + ", " : "") + kVerbs[how] + from.noun +
                    (filtered ? " that are " + that : "") + changed + last,
                "t = " + start + " " + from.before + (filtered ? "if " + test + " : " : "") +
                    "t = " + update + (filtered ? " end" : "") + from.after + " return " +
                    result.text);
  }

  // "Return the first number in xs that is odd, squared, or 7 if there is none."
  ProgramProblem find() {
    first_list_ = true;
    const auto [that, test] = condition_of_x(true);
    const std::string none = operand(0, 12);
    const int which = choices_.between(0, 2);
    if (which == 2)
      return done(
          "return the position of the first number in xs that is " + that + ", or " + none +
              " if there is none",
          "i = 0 for x in xs : if " + test + " : return i end i = i + 1 end return " + none);
    Code value = variable("x");
    std::string changed;
    for (const ProgramStep& one : steps(choices_.between(0, 2))) {
      changed += (changed.empty() ? ", " : " and ") + one.participle();
      value = one.applied(value);
    }
    return done(
        "return the " + std::string(which ? "last" : "first") + " number in xs that is " + that +
            changed + ", or " + none + " if there is none",
        which ? "t = " + none + " for x in xs : if " + test + " : t = " + value.text +
                    " end end return t"
              : "for x in xs : if " + test + " : return " + value.text + " end end return " + none);
  }

  // "Return 5 if all numbers in xs are positive, otherwise a."
  ProgramProblem decide() {
    first_list_ = true;
    const bool all = one_in(2);
    const auto [that, test] = condition_of_x(true);
    const std::string yes = operand(0, 12);
    std::string no = operand(0, 12);
    while (no == yes) no = operand(0, 12);
    return done("return " + yes + " if " +
                    (all ? "all numbers in xs are " + that : "any number in xs is " + that) +
                    ", otherwise " + no,
                "for x in xs : if " + (all ? "not ( " + test + " )" : test) + " : return " +
                    (all ? no : yes) + " end end return " + (all ? yes : no));
  }

  // "Take the larger of the numbers in xs and ys at each position, squared, and add them up."
  ProgramProblem pairs() {
    first_list_ = true;
    const bool two = second_list_ = one_in(2);
    const std::string other = two ? "ys [ i ]" : "xs [ i - 1 ]";
    struct Pairing {
      const char* noun;
      Code code;
    };
    const Pairing pairings[] = {{"sum", {Code::sum, "xs [ i ] + " + other}},
                                {"difference", {Code::sum, "xs [ i ] - " + other}},
                                {"product", {Code::product, "xs [ i ] * " + other}},
                                {"larger", {Code::atom, "max ( xs [ i ] , " + other + " )"}},
                                {"smaller", {Code::atom, "min ( xs [ i ] , " + other + " )"}}};
    const Pairing& pairing = pairings[choices_.below(5)];
    Code value = pairing.code;
    std::string changed;
    if (one_in(2)) {
      const ProgramStep one = step(false);
      changed = ", " + one.participle();
      value = one.applied(value);
    }
    const bool list = one_in(2);
    const std::string of = two ? " of the numbers in xs and ys at each position"
                               : " of each number in xs and the one before it";
    const auto [last, result] = list ? std::pair{std::string(), variable("t")} : finally(0, 1, "t");
    const std::string loop =
        two ? "for i in range ( len ( xs ) ) : " : "for i in range ( 1 , len ( xs ) ) : ";
    return done(
        (list ? "collect the " : "add up the ") + std::string(pairing.noun) + of + changed + last,
        (list ? "t = [ ] " : "t = 0 ") + loop + "t = t + " +
            (list ? "[ " + value.text + " ]" : value.text) + " end return " + result.text);
  }

  // "While a is less than 20, add 3. Return how often, then double it."
  ProgramProblem until() {
    integers_ = 1;
    const int how = choices_.between(0, 2);
    const std::string by = std::to_string(choices_.between(how == 2 ? 2 : 1, 9));
    const std::string bound =
        one_in(3) && how < 2 ? (integers_ = 2, "b") : std::to_string(choices_.between(1, 40));
    const std::string test = std::string(how == 0 ? " < " : " > ") + bound;
    const std::string words[] = {"add " + by, "subtract " + by, "divide by " + by},
                      signs[] = {" + ", " - ", " // "};
    const std::string change = signs[how] + by;
    const bool often = one_in(2);
    const auto [last, result] = finally(0, 2, often ? "n" : "r");
    return done("start with a, and while it is " + std::string(how == 0 ? "less" : "greater") +
                    " than " + bound + ", " + words[how] + "; return " +
                    (often ? "how often that was" : "the result") + last,
                "r = a " + std::string(often ? "n = 0 " : "") + "while r" + test + " : r = r" +
                    change + (often ? " n = n + 1" : "") + " end return " + result.text);
  }

  // "Take the largest number in xs, subtract the length of ys, then multiply by 3."
  ProgramProblem summary() {
    first_list_ = true;
    const auto aggregate = [&](const std::string& of) -> std::pair<std::string, std::string> {
      switch (choices_.below(8)) {
        case 0: return {"the length of " + of, "len ( " + of + " )"};
        case 1: return {"the sum of " + of, "sum ( " + of + " )"};
        case 2: return {"the largest number in " + of, "max ( " + of + " )"};
        case 3: return {"the smallest number in " + of, "min ( " + of + " )"};
        case 4: return {"the first number in " + of, of + " [ 0 ]"};
        case 5: return {"the last number in " + of, of + " [ len ( " + of + " ) - 1 ]"};
        case 6: return {"the second smallest number in " + of, "sort ( " + of + " ) [ 1 ]"};
        default:
          return {"the second largest number in " + of, "reverse ( sort ( " + of + " ) ) [ 1 ]"};
      }
    };
    second_list_ = one_in(2);
    const auto [one, one_code] = aggregate("xs");
    auto [two, two_code] = aggregate(second_list_ ? "ys" : "xs");
    while (one == two) std::tie(two, two_code) = aggregate("xs");
    const int how = choices_.between(0, 2);
    const std::string words[] = {", add ", ", subtract ", ", multiply by "},
                      signs[] = {" + ", " - ", " * "};
    const auto [last, result] = finally(1, 2, "r");
    return done("take " + one + words[how] + two + last,
                "r = " + one_code + signs[how] + two_code + " return " + result.text);
  }
};

// Counts a token a word and one a digit, which is the most that a vocabulary takes that writes
// digits one by one.
int most_tokens(const std::string& text) {
  return 1 + static_cast<int>(std::count_if(text.begin(), text.end(), [](unsigned char c) {
           return c == ' ' || std::isdigit(c);
         }));
}

}  // namespace

ProgramSplit program_split_of(const std::string& answer) {
  const std::uint64_t sixteenth = stable_hash(answer) % 16;
  return sixteenth == 0   ? ProgramSplit::test
         : sixteenth == 1 ? ProgramSplit::tune
                          : ProgramSplit::train;
}

ProgramProblem make_program_problem(std::uint64_t seed, std::int64_t index, ProgramSplit split) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    ProgramProblem problem =
        Maker(Choices(seed, index, static_cast<std::uint32_t>(split), attempt)).make();
    if (most_tokens(problem.answer) <= kMostTokens && program_split_of(problem.answer) == split)
      return problem;
  }
}

std::vector<ProgramProblem> make_program_problems(std::uint64_t seed, std::int64_t count,
                                                  ProgramSplit split) {
  std::vector<ProgramProblem> problems;
  for (std::int64_t i = 0; i < count; ++i) problems.push_back(make_program_problem(seed, i, split));
  return problems;
}

}  // namespace draftlab
